#include "test/Runtime/faults/PowerLoss.h"

#include "test/Runtime/fixture/Fixture.h"

#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace faults {

namespace fs = std::filesystem;

void writeImage(const DiskImage &image, const std::string &root) {
  fs::create_directories(root);
  for (const auto &[path, content] : image)
    if (content)
      fixture::writeFile(root + "/" + path, *content);
    else
      fs::create_directory(root + "/" + path);
}

//===----------------------------------------------------------------------===//
// Reading the log
//===----------------------------------------------------------------------===//

DiskLog::DiskLog(const std::string &text) {
  live.directories[0];
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    changes.push_back(parse(line));
    changes.back().line = line.substr(0, 80);
    apply(changes.back(), Data::Whole, live);
  }
}

int DiskLog::find(const std::string &path) const {
  int inode = 0;
  for (const fs::path &part : fs::path(path)) {
    if (part == ".")
      continue;
    inode = live.directories.at(inode).at(part);
  }
  return inode;
}

DiskLog::Change DiskLog::naming(const std::string &path, int value) const {
  fs::path whole(path);
  Change change{Kind::Name};
  change.inode = find(whole.parent_path());
  change.name = whole.filename();
  change.value = value;
  return change;
}

static std::string fromHex(const std::string &hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

DiskLog::Change DiskLog::parseRename(const std::string &what,
                                     const std::string &from,
                                     const std::string &to) const {
  Change change = naming(from, what == "exchange" ? find(to) : -1);
  Change target = naming(to, find(from));
  if (change.inode != target.inode)
    throw std::runtime_error("a rename between directories");
  change.kind = Kind::Swap;
  change.other = target.name;
  change.otherValue = target.value;
  return change;
}

DiskLog::Change DiskLog::parse(const std::string &line) {
  std::istringstream words(line);
  std::string what, path, second, third;
  words >> what >> path >> second >> third;
  if (what == "mkdir")
    live.directories[inodes];
  if (what == "create" || what == "mkdir")
    return naming(path, inodes++);
  if (what == "remove")
    return naming(path, -1);
  if (what == "rename" || what == "exchange")
    return parseRename(what, path, second);
  if (what == "says") {
    Change says{Kind::Says};
    says.name = path;
    says.at = path == "saved" ? std::stoul(second) : 0;
    return says;
  }
  Change change{what == "write"      ? Kind::Data
                : what == "truncate" ? Kind::Resize
                : what == "sync"     ? Kind::Sync
                                     : throw std::runtime_error(line)};
  change.inode = find(path);
  change.at = second.empty() ? 0 : std::stoul(second);
  change.bytes = fromHex(third);
  return change;
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

static void setName(std::map<std::string, int> &names, const std::string &name,
                    int inode) {
  if (inode < 0)
    names.erase(name);
  else
    names[name] = inode;
}

void DiskLog::apply(const Change &change, Data data, Disk &disk) {
  bool isName = change.kind == Kind::Name || change.kind == Kind::Swap;
  if (isName)
    setName(disk.directories[change.inode], change.name, change.value);
  if (change.kind == Kind::Swap)
    setName(disk.directories[change.inode], change.other, change.otherValue);
  if (data == Data::Absent)
    return;
  if (change.kind == Kind::Resize)
    disk.files[change.inode].resize(change.at);
  if (change.kind == Kind::Data) {
    std::string &content = disk.files[change.inode];
    content.resize(std::max(content.size(), change.at + change.bytes.size()));
    std::string bytes = data == Data::Whole
                            ? change.bytes
                            : std::string(change.bytes.size(), '\0');
    content.replace(change.at, bytes.size(), bytes);
  }
}

void DiskLog::collect(const Disk &disk, int directory, const std::string &path,
                      DiskImage &image) {
  auto found = disk.directories.find(directory);
  if (found == disk.directories.end())
    return;
  for (const auto &[name, inode] : found->second) {
    auto file = disk.files.find(inode);
    bool isDirectory = disk.directories.count(inode) != 0;
    image[path + name] = isDirectory ? std::nullopt
                         : file == disk.files.end()
                             ? std::make_optional<std::string>()
                             : std::make_optional(file->second);
    if (isDirectory)
      collect(disk, inode, path + name + "/", image);
  }
}

int64_t DiskLog::promisedAt(size_t moment) const {
  int64_t promised = 0;
  for (size_t i = 0; i < moment; ++i)
    if (changes[i].kind == Kind::Says && changes[i].name == "saved")
      promised = static_cast<int64_t>(changes[i].at);
  return promised;
}

std::string DiskLog::describe(size_t moment) const {
  return moment == 0 ? "nothing" : changes[moment - 1].line;
}

DiskLog::Choice DiskLog::syncedAt(size_t moment) const {
  Choice synced(moment);
  // Inodes that are synced between the change and the moment.
  std::set<int> later;
  for (size_t i = moment; i-- > 0;) {
    const Change &change = changes[i];
    if (change.kind == Kind::Sync)
      later.insert(change.inode);
    synced[i] = change.kind == Kind::Sync || change.kind == Kind::Says ||
                later.count(change.inode) != 0;
  }
  return synced;
}

DiskImage DiskLog::imageOf(const Choice &choice, const Choice &synced,
                           Data pending) const {
  Disk disk;
  for (const auto &[inode, names] : live.directories)
    disk.directories[inode]; // makes the inode a directory
  for (size_t i = 0; i < choice.size(); ++i)
    if (choice[i])
      apply(changes[i], synced[i] ? Data::Whole : pending, disk);
  DiskImage image;
  collect(disk, 0, "", image);
  return image;
}

std::set<DiskImage> DiskLog::imagesAt(size_t moment) const {
  Choice synced = syncedAt(moment), choice = synced, all(moment, true);
  std::set<DiskImage> images = {imageOf(synced, synced, Data::Whole),
                                imageOf(all, synced, Data::Absent),
                                imageOf(all, synced, Data::Zeros)};
  for (size_t i = 0; i < moment; ++i) {
    if (synced[i])
      continue;
    choice[i] = true;
    Choice alone = synced, missing = all;
    alone[i] = true;
    missing[i] = false;
    for (const Choice &one : {choice, alone, missing})
      images.insert(imageOf(one, synced, Data::Whole));
  }
  std::mt19937 random(static_cast<unsigned>(moment));
  for (int i = 0; i < 8; ++i) {
    Choice some = synced;
    for (size_t j = 0; j < moment; ++j)
      some[j] = synced[j] || random() % 2 == 0;
    images.insert(imageOf(some, synced, Data::Whole));
  }
  return images;
}

} // namespace faults
