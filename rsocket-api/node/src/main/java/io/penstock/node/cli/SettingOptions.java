package io.penstock.node.cli;

import io.penstock.node.config.Setting;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/// The command line's view of the table of settings.
public final class SettingOptions {
  private SettingOptions() {}

  /// Adds an option for each of `settings`.
  public static void addTo(CommandSpec spec, List<Setting<?>> settings) {
    settings.forEach(setting -> spec.addOption(option(setting)));
  }

  /// The texts of those of `settings` that were given.
  public static Map<Setting<?>, String> given(ParseResult parsed, List<Setting<?>> settings) {
    Map<Setting<?>, String> given = new LinkedHashMap<>();
    for (Setting<?> setting : settings) {
      if (parsed.hasMatchedOption(setting.flag())) {
        given.put(setting, parsed.matchedOptionValue(setting.flag(), ""));
      }
    }
    return given;
  }

  private static OptionSpec option(Setting<?> setting) {
    String variables = String.join(", ", Stream.concat(Stream.of(setting.variable()), setting.aliases().stream()).toList());
    return OptionSpec.builder(setting.flag()).paramLabel(setting.type().label()).type(String.class)
        .hidden(setting.noEffect().isPresent()) // accepted, but nothing to advertise
        .description(plain(setting.description()), plain("Must be " + setting.type().rule() + ". " + variables + ", default " + setting.initial()))
        .build();
  }

  private static String plain(String text) {
    return text.replace("%", "%%");
  }
}
