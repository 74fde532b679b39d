#include "runtime/collectives/process/TcpEngine.h"

#include "runtime/collectives/process/ProcessRendezvous.h"

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace tessera {

namespace {
// A failure elsewhere is noticed within this time.
constexpr int exchangeNapMs = 20;

/// A piece of memory that a socket reads or writes next.
struct Piece {
  char *data;
  int64_t bytes;
};

/// Finds the piece after `done` bytes: of the frame, then of the segments.
template <class Segment>
Piece pieceAt(const CallFrame &frame, const std::vector<Segment> &segments,
              int64_t done) {
  auto header = static_cast<int64_t>(sizeof frame);
  if (done < header)
    return {reinterpret_cast<char *>(const_cast<CallFrame *>(&frame)) + done,
            header - done};
  done -= header;
  size_t at = 0;
  for (; done >= segments[at].bytes; ++at)
    done -= segments[at].bytes;
  auto *data = static_cast<const char *>(segments[at].data);
  return {const_cast<char *>(data) + done, segments[at].bytes - done};
}

/// One peer's data connections, by lane.
using Lanes = std::array<Socket, 2>;

class TcpTraffic final : public Traffic {
public:
  TcpTraffic(const std::vector<Lanes> &sockets, Lane lane,
             std::vector<Partner> &partners)
      : sockets(sockets), lane(static_cast<int>(lane)), partners(partners),
        entries(partners.size()) {
    for (Partner &partner : partners)
      push(partner);
  }

  void advance() override {
    for (size_t i = 0; i < partners.size(); ++i)
      entries[i] = interestOf(partners[i]);
    poll(entries.data(), entries.size(), exchangeNapMs);
    for (size_t i = 0; i < partners.size(); ++i) {
      if (entries[i].revents & (POLLIN | POLLHUP | POLLERR))
        pull(partners[i]);
      if (entries[i].revents & (POLLOUT | POLLERR))
        push(partners[i]);
    }
  }

private:
  int socketOf(const Partner &partner) const {
    return sockets[static_cast<size_t>(partner.transfer.peer)][lane].get();
  }
  pollfd interestOf(const Partner &partner) const {
    int events = (partner.sendsMore() ? POLLOUT : 0) |
                 (partner.receivesMore() ? POLLIN : 0);
    bool waits = events && !partner.broken;
    return {waits ? socketOf(partner) : -1, static_cast<short>(events), 0};
  }
  void push(Partner &partner) const;
  void pull(Partner &partner) const;

  const std::vector<Lanes> &sockets;
  int lane;
  std::vector<Partner> &partners;
  std::vector<pollfd> entries;
};

void TcpTraffic::push(Partner &partner) const {
  while (partner.sendsMore()) {
    Piece piece = pieceAt(partner.sent, partner.transfer.out, partner.out);
    bool isLast = partner.out + piece.bytes == partner.toSend;
    ssize_t sent =
        send(socketOf(partner), piece.data, static_cast<size_t>(piece.bytes),
             MSG_NOSIGNAL | MSG_DONTWAIT | (isLast ? 0 : MSG_MORE));
    if (sent <= 0) {
      partner.broken = errno != EAGAIN && errno != EINTR;
      return;
    }
    partner.out += sent;
  }
}

void TcpTraffic::pull(Partner &partner) const {
  while (partner.receivesMore()) {
    Piece piece = pieceAt(partner.got, partner.transfer.in, partner.in);
    ssize_t got = recv(socketOf(partner), piece.data,
                       static_cast<size_t>(piece.bytes), MSG_DONTWAIT);
    if (got <= 0) {
      partner.broken = got == 0 || (errno != EAGAIN && errno != EINTR);
      return;
    }
    partner.in += got;
  }
}

class TcpEngine final : public Engine {
public:
  explicit TcpEngine(ProcessLinks &links) : sockets(links.peers.size()) {
    for (size_t peer = 0; peer < sockets.size(); ++peer) {
      sockets[peer][0] = std::move(links.peers[peer].data);
      sockets[peer][1] = std::move(links.peers[peer].background);
    }
  }
  const char *name() const override { return "tcp"; }
  std::unique_ptr<Traffic> start(Lane lane,
                                 std::vector<Partner> &partners) override {
    return std::make_unique<TcpTraffic>(sockets, lane, partners);
  }

private:
  std::vector<Lanes> sockets; ///< one for each rank
};
} // namespace

std::unique_ptr<Engine> makeTcpEngine(ProcessLinks &links) {
  return std::make_unique<TcpEngine>(links);
}

} // namespace tessera
