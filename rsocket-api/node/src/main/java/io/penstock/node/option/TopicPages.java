package io.penstock.node.option;

import io.penstock.node.setting.Setting;
import io.penstock.node.setting.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/// The help of a command with more settings than a screen takes: its own help names them by topic, and each topic has a
/// page. A topic is called by the first word of its title.
public final class TopicPages {
  /// The word for the page of all topics.
  public static final String ALL = "all";

  private static final int WIDTH = 80;

  private final String command;
  private final List<Topic> topics;

  /// @param command as it is typed, such as `serve`
  public TopicPages(String command, List<Topic> topics) {
    this.command = command;
    this.topics = List.copyOf(topics);
  }

  /// Lets the command take every setting, and its help name them without their rules.
  ///
  /// @param examples lines below
  public void addTo(CommandSpec spec, List<String> examples) {
    topics.forEach(topic -> SettingOptions.addHidden(spec, topic.settings()));
    Stream<String> names = topics.stream().flatMap(topic -> row(topic).stream());
    spec.usageMessage()
        .footerHeading("%%nSettings, by topic; 'penstock help %s TOPIC' shows their rules and defaults:%%n"
            .formatted(command))
        .footer(Stream.of(names, Stream.of("", "Examples:"), examples.stream()).flatMap(lines -> lines)
            .toArray(String[]::new));
  }

  /// The topic's word, and the options of its settings beside it.
  private List<String> row(Topic topic) {
    int margin = topics.stream().mapToInt(each -> word(each).length()).max().orElse(0) + 4;
    List<StringBuilder> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder("  " + word(topic));
    pad(line, margin);
    for (Setting<?> setting : topic.settings()) {
      if (line.length() > margin && line.length() + setting.flag().length() + 1 > WIDTH) {
        lines.add(line);
        line = new StringBuilder();
        pad(line, margin);
      }
      line.append(line.length() > margin ? " " : "").append(setting.flag());
    }
    lines.add(line);
    return lines.stream().map(StringBuilder::toString).toList();
  }

  private static void pad(StringBuilder line, int width) {
    line.repeat(' ', Math.max(0, width - line.length()));
  }

  /// The page of a topic, of all, or of one setting, as a command line of which only the help is shown.
  ///
  /// @throws IllegalArgumentException if there is no such topic or setting
  public CommandLine line(String word) {
    List<Topic> shown = shown(word);
    if (shown.isEmpty()) {
      throw new IllegalArgumentException("topic of %s must be one of %s, %s, or a setting (was %s)".formatted(command,
          topics.stream().map(TopicPages::word).collect(Collectors.joining(", ")), ALL, word));
    }
    CommandSpec spec = CommandSpec.create().name("penstock " + command);
    shown.forEach(topic -> SettingOptions.addTo(spec, topic));
    spec.usageMessage().sortOptions(false).customSynopsis("penstock " + command + " [OPTIONS]");
    return new CommandLine(spec);
  }

  private List<Topic> shown(String word) {
    if (word.equals(ALL)) {
      return topics;
    }
    List<Topic> called = topics.stream().filter(topic -> word(topic).equals(word.toLowerCase(Locale.ROOT))).toList();
    return called.isEmpty()
        ? topics.stream()
            .map(topic -> topic.only(setting -> setting.flag().equals("--" + word) || setting.key().equals(word)))
            .filter(topic -> !topic.settings().isEmpty()).toList()
        : called;
  }

  private static String word(Topic topic) {
    return topic.title().split(" ", 2)[0].toLowerCase(Locale.ROOT);
  }
}
