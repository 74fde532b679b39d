//===- Declare.cpp - how commands declare their options -------------------===//

#include "tools/tessera/options/Declare.h"
#include "tools/tessera/options/HelpText.h"
#include <charconv>

using namespace tessera;

void tessera::refuse(const std::string &message) {
  throw CLI::ValidationError("error", message);
}

void tessera::refuseUnless(const std::string &why) {
  if (!why.empty())
    refuse(why);
}

std::string tessera::givenText(const CLI::Option &option) {
  return option.count() ? CLI::detail::join(option.results(), ",")
                        : option.get_default_str();
}

std::string tessera::exactNumber(double value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

void tessera::beginGroup(CLI::App &app, const std::string &title,
                         const std::string &example) {
  app.option_defaults()->group(title);
  if (example.empty())
    return;
  // Commands have the formatter of the driver.
  std::static_pointer_cast<HelpFormatter>(app.get_formatter())
      ->addExample(&app, title, example);
}

/// CLI11 itself hides options without a group, but then they have no name.
static constexpr const char *kHidden = "hidden";

void tessera::hide(CLI::Option &option) { option.group(kHidden); }

bool tessera::isHidden(const CLI::Option &option) {
  return option.get_group() == kHidden;
}

std::function<std::string(const std::string &)>
tessera::oneOf(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string &word) {
    std::string list;
    for (const std::string &known : words) {
      if (word == known)
        return std::string();
      list += (list.empty() ? "" : ", ") + known;
    }
    return "'" + word + "' is not supported; use one of " + list;
  };
}

void tessera::setDefault(CLI::App &app, const char *name,
                         const std::string &text) {
  CLI::Option *option = app.get_option(name);
  std::string what = option->get_description();
  option->description(what.substr(0, what.find(" (default")));
  option->default_str(text);
}
