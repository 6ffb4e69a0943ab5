package io.penstock.node.option;

import io.penstock.node.setting.Setting;
import io.penstock.node.setting.Topic;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/// The command line's view of the table of settings.
public final class SettingOptions {
  private SettingOptions() {}

  /// Adds an option for each setting of `topic`, under its title.
  public static void addTo(CommandSpec spec, Topic topic) {
    addTo(spec, topic, topic.settings(), "", true);
  }

  /// Adds options whose help shows only `first`, and names the page that shows all.
  ///
  /// @param page name of the page for `penstock help`
  public static void addTo(CommandSpec spec, Topic topic, Setting<?> first, String page) {
    addTo(spec, topic, List.of(first), "; penstock help " + page + " shows all", true);
  }

  /// Adds options of a command that reads no variables: the help names none.
  static void addWithoutVariables(CommandSpec spec, Topic topic) {
    addTo(spec, topic, topic.settings(), "", false);
  }

  private static void addTo(CommandSpec spec, Topic topic, List<Setting<?>> shown, String more,
      boolean takesVariables) {
    ArgGroupSpec.Builder group = ArgGroupSpec.builder().exclusive(false).validate(false).multiplicity("0..1")
        .heading("%n" + topic.title() + more + ":%n").order(spec.argGroups().size());
    topic.settings().forEach(setting -> group.addArg(option(setting, !shown.contains(setting), takesVariables)));
    spec.addArgGroup(group.build());
  }

  /// Adds options that the command takes and its help leaves to another page.
  public static void addHidden(CommandSpec spec, List<Setting<?>> settings) {
    settings.forEach(setting -> spec.addOption(option(setting, true, true)));
  }

  /// Lines that name those of `settings` that have no effect, below the reason.
  public static List<String> withoutEffect(List<Setting<?>> settings) {
    Map<String, List<Setting<?>>> idle = settings.stream().filter(setting -> setting.noEffect().isPresent())
        .collect(Collectors.groupingBy(setting -> setting.noEffect().orElseThrow(), LinkedHashMap::new,
            Collectors.toList()));
    return idle.entrySet().stream().flatMap(each -> Stream.concat(Stream.of("  because " + each.getKey() + ":"),
        each.getValue().stream().map(setting -> "    %s, %s".formatted(setting.flag(), variables(setting)))))
        .map(SettingOptions::plain).toList();
  }

  /// Texts of those of `settings` that were given.
  public static Map<Setting<?>, String> given(ParseResult parsed, List<Setting<?>> settings) {
    Map<Setting<?>, String> given = new LinkedHashMap<>();
    for (Setting<?> setting : settings) {
      if (parsed.hasMatchedOption(setting.flag())) {
        given.put(setting, parsed.matchedOptionValue(setting.flag(), ""));
      }
    }
    return given;
  }

  private static OptionSpec option(Setting<?> setting, boolean hidden, boolean takesVariables) {
    return OptionSpec.builder(setting.flag()).paramLabel(setting.type().label()).type(String.class)
        .arity(setting.type().isFlag() ? "0..1" : "1").fallbackValue("true")
        .hidden(hidden)
        .description(plain(setting.description()),
            plain("Must be " + setting.type().rule() + ". "
                + (takesVariables ? variables(setting) + ", default " : "Default ")
                + (setting.initial().isEmpty() ? "none" : setting.initial())))
        .build();
  }

  private static String variables(Setting<?> setting) {
    return String.join(", ", Stream.concat(Stream.of(setting.variable()), setting.aliases().stream()).toList());
  }

  private static String plain(String text) {
    return text.replace("%", "%%");
  }
}
