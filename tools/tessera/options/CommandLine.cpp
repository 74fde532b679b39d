//===- CommandLine.cpp - the command line of every command ----------------===//

#include "tools/tessera/options/CommandLine.h"
#include "tessera/printable.hpp"
#include "tools/tessera/options/Declare.h"
#include "tools/tessera/options/HelpFiles.h"
#include "tools/tessera/options/HelpText.h"
#include <algorithm>
#include <cctype>
#include <iostream>
#include <stdexcept>

using namespace tessera;

namespace {

std::string messageOf(const CLI::Error &error) {
  std::string what = error.what();
  // "--steps: At Most 1 required but received 2"
  const std::string once = ": At Most 1 required but received ";
  if (size_t at = what.find(once); at != std::string::npos)
    return what.substr(0, at) + " is given " + what.substr(at + once.size()) +
           " times; give it once";
  if (!what.empty())
    what[0] = static_cast<char>(std::tolower(what[0]));
  return what + "; see --help";
}

/// Returns a line that is written at once: other processes of a launcher write
/// theirs at the same time.
std::string errorLine(const std::string &message) {
  return "error: " + printableMessage(message) + "\n";
}

/// The parser of the driver, with the commands that it has.
class CommandLine {
public:
  /// Declares the options of one command, or of all of them if there is none of
  /// that name: declaring all takes a seventh of the time of a start.
  explicit CommandLine(const std::string &declared);
  ParsedCommand parse(int argc, char **argv);

private:
  enum class Shown { All, InHelp };
  std::vector<std::string> namesOf(const std::string &command, Shown shown);
  void checkCommand(const std::string &word);
  void checkOptions(const std::string &command,
                    const std::vector<std::string> &words);
  bool writeHelp(int argc, char **argv, ParsedCommand &result);
  ParsedCommand parseChecked(int argc, char **argv);

  CLI::App app{"Tessera compiles a Transformer into a distributed training "
               "program and runs it",
               "tessera"};
  std::shared_ptr<HelpFormatter> formatter = std::make_shared<HelpFormatter>();
  std::vector<std::unique_ptr<Command>> commands; ///< In the order of `app`.
};

CommandLine::CommandLine(const std::string &declared) {
  app.require_subcommand(1);
  app.formatter(formatter);
  app.set_version_flag("--version", "tessera " TESSERA_VERSION)
      ->description("Print the version");
  app.failure_message([](const CLI::App *, const CLI::Error &error) {
    return errorLine(messageOf(error));
  });
  const std::vector<RegisteredCommand> &rows = registeredCommands();
  const bool isKnown =
      std::any_of(rows.begin(), rows.end(), [&](const RegisteredCommand &row) {
        return declared == row.name;
      });
  for (const RegisteredCommand &row : rows) {
    CLI::App *sub = app.add_subcommand(row.name, row.what);
    sub->footer("tessera " + std::string(row.name) + row.example);
    commands.push_back(row.create());
    if (!isKnown || declared == row.name)
      commands.back()->declare(*sub);
  }
}

//===----------------------------------------------------------------------===//
// Words that are no options
//===----------------------------------------------------------------------===//

/// The parser itself would only say that a subcommand is required.
void CommandLine::checkCommand(const std::string &word) {
  if (word.rfind("-", 0) == 0)
    return;
  std::vector<std::string> names;
  std::string list;
  for (const CLI::App *sub : app.get_subcommands({})) {
    if (sub->get_name() == word)
      return;
    names.push_back(sub->get_name());
    list += (list.empty() ? "" : ", ") + names.back();
  }
  refuse("unknown command '" + word + "'; " +
         suggestion(nearestName(word, names), "use one of " + list));
}

std::string suggestOption(const std::string &name,
                          const std::vector<std::string> &names,
                          const std::string &command) {
  if (std::string other = standInFor(name); !other.empty())
    return "here that is " + other;
  return suggestion(name.size() > 2 ? nearestName(name, names) : "",
                    "see tessera " + command + " --help");
}

/// The parser itself would first miss what a mistyped option was to give.
void CommandLine::checkOptions(const std::string &command,
                               const std::vector<std::string> &words) {
  if (command.rfind("-", 0) == 0)
    return;
  const std::vector<std::string> names = namesOf(command, Shown::All);
  for (const std::string &word : words) {
    std::string name = word.substr(0, word.find('='));
    if (word == "--")
      return;
    // "-1" is a number.
    bool isOption = word.size() > 1 && word[0] == '-' && !std::isdigit(word[1]);
    if (isOption && word[1] != '-')
      name.resize(2); // "-oFILE"
    if (isOption && std::find(names.begin(), names.end(), name) == names.end())
      refuse("unknown option '" + name + "'; " +
             suggestOption(name, namesOf(command, Shown::InHelp), command));
  }
}

/// Returns the names of the options of a command. No error suggests an option
/// that help does not show.
std::vector<std::string> CommandLine::namesOf(const std::string &command,
                                              Shown shown) {
  std::vector<std::string> names = {"-h", "--help", "--version"};
  for (const CLI::App *sub : app.get_subcommands({}))
    if (sub->get_name() == command)
      for (const CLI::Option *option : sub->get_options()) {
        if (shown == Shown::InHelp && isHidden(*option))
          continue;
        for (const std::string &name : option->get_lnames())
          names.push_back("--" + name);
        for (const std::string &name : option->get_snames())
          names.push_back("-" + name);
      }
  return names;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// "help" and "help COMMAND" are --help and COMMAND --help.
std::vector<char *> expandHelp(int argc, char **argv) {
  static char help[] = "--help";
  std::vector<char *> words(argv, argv + argc);
  if (argc > 1 && words[1] == std::string("help")) {
    words.erase(words.begin() + 1);
    words.push_back(help);
  }
  return words;
}

/// Writes what --help-markdown and --help-files ask for. Returns whether they
/// are given.
bool CommandLine::writeHelp(int argc, char **argv, ParsedCommand &result) {
  if (argc == 2 && argv[1] == std::string("--help-markdown")) {
    std::cout << helpAsMarkdown(app, *formatter);
    return true;
  }
  if (argc != 3 || argv[1] != std::string("--help-files"))
    return false;
  result.error = writeHelpFiles(argv[2], commandTable(app));
  if (result.error.empty())
    return true;
  std::cerr << errorLine(result.error);
  result.exitCode = 1;
  return true;
}

ParsedCommand CommandLine::parseChecked(int argc, char **argv) {
  if (argc > 1) {
    checkCommand(argv[1]);
    checkOptions(argv[1], {argv + 2, argv + argc});
  }
  app.parse(argc, argv);
  CLI::App *chosen = app.get_subcommands().front();
  std::vector<CLI::App *> all = app.get_subcommands({});
  auto place = std::find(all.begin(), all.end(), chosen) - all.begin();
  commands[place]->check(*chosen);
  ParsedCommand result;
  result.command = std::move(commands[place]);
  return result;
}

ParsedCommand CommandLine::parse(int argc, char **argv) {
  ParsedCommand result;
  if (writeHelp(argc, argv, result))
    return result;
  auto fail = [&](const std::string &message) {
    std::cerr << errorLine(message);
    return ParsedCommand{nullptr, 1, message};
  };
  try {
    return parseChecked(argc, argv);
  } catch (const CLI::ValidationError &error) {
    std::string message = error.what();
    return fail(message.rfind("error: ", 0) == 0 ? message.substr(7) : message);
  } catch (const CLI::ParseError &error) {
    bool isError = app.exit(error) != 0;
    return {nullptr, isError, isError ? messageOf(error) : ""};
  } catch (const std::out_of_range &) { // "--no-overlap=99999999999999999999"
    return fail("a switch has a number of too many digits");
  }
}

} // namespace

ParsedCommand tessera::parseCommandLine(int argc, char **argv) {
  std::vector<char *> words = expandHelp(argc, argv);
  return CommandLine(argc > 1 ? words[1] : "")
      .parse(static_cast<int>(words.size()), words.data());
}
