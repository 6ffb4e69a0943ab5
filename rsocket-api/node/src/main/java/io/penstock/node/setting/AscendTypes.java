package io.penstock.node.setting;

import io.penstock.node.text.Durations;
import io.penstock.node.text.Json;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Values in the forms that programs for Ascend devices write them in, and in our own.
public final class AscendTypes {
  static final String NONE = "none";
  static final String ALL = "all";

  private AscendTypes() {}

  /// Type of a flag that counts by its value: a variable with the value `0` says no.
  public static SettingType<Boolean> flag() {
    return new SettingType<>(SettingType.FLAG_LABEL, "true or false, 1 or 0, yes or no, on or off",
        text -> switch (text.toLowerCase(Locale.ROOT)) {
          case "true", "1", "yes", "on" -> true;
          case "false", "0", "no", "off" -> false;
          default -> throw new IllegalArgumentException();
        }, String::valueOf);
  }

  /// A duration; a plain number counts `unit`s.
  public static SettingType<Duration> duration(Duration unit) {
    String rule = "a duration such as 500ms, 30s or 2m, or a number of "
        + (unit.toMillis() == 1 ? "milliseconds" : "seconds") + ", and at most 24 days";
    return new SettingType<>("DURATION", rule, text -> {
      Duration duration = text.matches("\\d{1,10}") ? unit.multipliedBy(Long.parseLong(text)) : Durations.parse(text);
      if (duration.isZero() || duration.toMillis() > Integer.MAX_VALUE) {
        throw new IllegalArgumentException();
      }
      return duration;
    }, Durations::print);
  }

  /// Numbers of devices; all of them is an empty list.
  public static SettingType<List<Integer>> devices() {
    return new SettingType<>("IDS", "numbers of devices such as 0,1,3, each once, or all",
        text -> text.equals(ALL)
            ? List.of()
            : distinct(Arrays.stream(text.split(",", -1)).map(String::strip).map(AscendTypes::device).toList()),
        ids -> ids.isEmpty() ? ALL : ids.stream().map(String::valueOf).collect(Collectors.joining(",")));
  }

  private static int device(String text) {
    int id = Integer.parseInt(text);
    if (id < 0) {
      throw new IllegalArgumentException();
    }
    return id;
  }

  private static List<Integer> distinct(List<Integer> ids) {
    if (ids.stream().distinct().count() < ids.size()) {
      throw new IllegalArgumentException();
    }
    return ids;
  }

  /// Type that also takes `none`.
  public static <T> SettingType<Optional<T>> orNone(SettingType<T> type) {
    return optional(type.label(), type.rule(), type.parse(), type.print());
  }

  /// A count of whole `step`s.
  public static SettingType<Optional<Integer>> stepsOrNone(int max, int step) {
    return optional("N", "an integer from 0 to " + max + " that " + step + " divides", text -> {
      int value = Integer.parseInt(text);
      if (value < 0 || value > max || value % step != 0) {
        throw new IllegalArgumentException();
      }
      return value;
    }, String::valueOf);
  }

  public static SettingType<Optional<JsonNode>> json() {
    return optional("JSON", "a JSON object", text -> {
      try {
        JsonNode tree = Json.MAPPER.readTree(text);
        if (!tree.isObject()) {
          throw new IllegalArgumentException();
        }
        return tree;
      } catch (JacksonException e) {
        throw new IllegalArgumentException(e);
      }
    }, JsonNode::toString);
  }

  private static <T> SettingType<Optional<T>> optional(String label, String rule, Function<String, T> parse,
      Function<T, String> print) {
    return new SettingType<>(label, rule + ", or " + NONE,
        text -> text.equals(NONE) ? Optional.empty() : Optional.of(parse.apply(text)),
        value -> value.map(print).orElse(NONE));
  }
}
