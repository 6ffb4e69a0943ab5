package io.penstock.node.option;

import io.penstock.node.cli.Console;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.config.SpaceSettings;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.text.TextTable;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Shows the settings in effect and their origins. The text leaves out settings without effect unless one was given.
public final class ConfigReport {
  /// A row of the report in JSON.
  ///
  /// @param key with `spaces.NAME.` before it, for a setting of one of several spaces
  /// @param variable null for a setting of a space, which only the file states
  /// @param flag null likewise
  /// @param aliases variables of other programs that mean the same
  /// @param noEffect why it does nothing; null if it does
  public record Row(String key, String value, String source, String origin, @Nullable String variable,
      @Nullable String flag, List<String> aliases, @Nullable String noEffect) {
    private Row ofSpace(String name) {
      return new Row("spaces." + name + "." + key, value, source, origin, null, null, aliases, noEffect);
    }
  }

  private ConfigReport() {}

  /// Prints all of `config`.
  public static void print(NodeConfig config, Console console, boolean json) {
    if (json) {
      console.json(Stream.concat(rows(config, one -> true).stream(), spaceRows(config)).toList());
    } else {
      console.out().print(text(config, one -> true));
      console.print("\n" + blocks(config));
    }
  }

  private static Stream<Row> spaceRows(NodeConfig config) {
    return config.spaces().stream()
        .flatMap(space -> space.effective().stream().map(one -> row(one).ofSpace(space.name())));
  }

  private static String blocks(NodeConfig config) {
    return config.spaces().isEmpty()
        ? "blocks: " + LayoutSettings.words(config.space())
        : config.spaces().stream().map(SpaceSettings::words).collect(Collectors.joining("\n"));
  }

  /// The settings of `config` that `which` likes, for machines.
  public static List<Row> rows(NodeConfig config, Predicate<Effective> which) {
    return config.effective().stream().filter(which).map(ConfigReport::row).toList();
  }

  /// Text of these settings for people.
  public static String text(NodeConfig config, Predicate<Effective> which) {
    TextTable table = new TextTable("KEY", "VALUE", "FROM");
    config.effective().stream().filter(which).filter(one -> one.isGiven() || one.setting().noEffect().isEmpty())
        .forEach(one -> table.row(one.setting().key(), one.text(), one.origin()));
    List<String> idle = config.withoutEffect();
    return idle.isEmpty() ? table.toString() : table + "\n" + String.join("\n", idle) + "\n";
  }

  private static Row row(Effective one) {
    return new Row(one.setting().key(), one.text(), one.origin().kind().name().toLowerCase(Locale.ROOT),
        one.origin().where(),
        one.setting().variable(), one.setting().flag(), one.setting().aliases(), one.setting().noEffect().orElse(null));
  }
}
