package io.penstock.node.setting;

import io.penstock.check.InternetAddress;
import io.penstock.node.text.Durations;
import io.penstock.node.text.Sizes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/// How the text of a setting becomes a value, and back.
///
/// @param label placeholder in the help, for example `SIZE`
/// @param rule what a value must be, the middle of *key must be rule (was value)*
/// @param parse throws `IllegalArgumentException` or answers a value
/// @param print the inverse of `parse`
public record SettingType<T>(String label, String rule, Function<String, T> parse, Function<T, String> print) {
  /// Text of a value that follows from other settings.
  public static final String AUTO = "auto";

  static final String FLAG_LABEL = "BOOLEAN";

  /// True if its option may stand alone, and then means `true`.
  public boolean isFlag() {
    return label.equals(FLAG_LABEL);
  }

  public static SettingType<Integer> count(int min, int max) {
    return new SettingType<>("N", "an integer from " + min + " to " + max,
        text -> within(Integer.parseInt(text), min, max), String::valueOf);
  }

  public static SettingType<Long> longCount(long min, long max) {
    return new SettingType<>("N", "an integer from " + min + " to " + max, text -> {
      long value = Long.parseLong(text);
      if (value < min || value > max) {
        throw new IllegalArgumentException();
      }
      return value;
    }, String::valueOf);
  }

  /// A port.
  public static SettingType<Integer> port() {
    return new SettingType<>("PORT", "an integer from 0 to 65535, 0 for any free one",
        text -> within(Integer.parseInt(text), 0, 65535),
        String::valueOf);
  }

  public static SettingType<PortChoice> portOrOff() {
    return new SettingType<>("PORT", "an integer from 0 to 65535, 0 for any free one, or off", PortChoice::parse,
        PortChoice::toString);
  }

  public static SettingType<Integer> size(int minBytes, int maxBytes) {
    String rule = "a size from " + Sizes.exact(minBytes) + " to " + Sizes.exact(maxBytes);
    return new SettingType<>("SIZE", rule, text -> within(Math.toIntExact(Sizes.parseBytes(text)), minBytes, maxBytes),
        bytes -> Sizes.exact(bytes));
  }

  public static SettingType<Long> longSize(long minBytes) {
    return new SettingType<>("SIZE", "a size of at least " + Sizes.exact(minBytes), text -> {
      long bytes = Sizes.parseBytes(text);
      if (bytes < minBytes) {
        throw new IllegalArgumentException();
      }
      return bytes;
    }, Sizes::exact);
  }

  /// A value of `type`, or `auto` for none.
  public static <T> SettingType<Optional<T>> orAuto(SettingType<T> type) {
    return new SettingType<>(type.label(), type.rule() + ", or auto",
        text -> text.equals(AUTO) ? Optional.empty() : Optional.of(type.parse().apply(text)),
        value -> value.map(type.print()).orElse(AUTO));
  }

  /// A size; 0 is `auto`.
  public static SettingType<Long> longSizeOrAuto(long minBytes) {
    SettingType<Long> size = longSize(minBytes);
    return new SettingType<>(size.label(), size.rule() + ", or auto",
        text -> text.strip().equals(AUTO) ? Long.valueOf(0) : size.parse().apply(text),
        bytes -> bytes == 0 ? AUTO : Sizes.exact(bytes));
  }

  public static SettingType<Capacity> capacityOrOff() {
    return new SettingType<>("CAPACITY", "a size, \"N blocks\", unbounded, or 0 for off", Capacity::parse,
        Capacity::toString);
  }

  /// Type of a capacity with a bound.
  public static SettingType<Capacity> finiteCapacityOrOff() {
    return new SettingType<>("CAPACITY", "a size, \"N blocks\", or 0 for off", text -> {
      Capacity capacity = Capacity.parse(text);
      if (capacity.equals(Capacity.UNBOUNDED)) {
        throw new IllegalArgumentException();
      }
      return capacity;
    }, Capacity::toString);
  }

  /// A name or an address to listen at, or to be told to others, without brackets.
  public static SettingType<String> host() {
    return new SettingType<>("HOST", "a name or an address", text -> InternetAddress.host(text.strip()),
        Function.identity());
  }

  /// A folder; none is `none`.
  public static SettingType<Optional<Path>> folder() {
    return new SettingType<>("FOLDER", "a folder, or none",
        text -> text.isBlank() || text.equals("none")
            ? Optional.empty()
            : Optional.of(Path.of(text)),
        folder -> folder.map(Path::toString).orElse("none"));
  }

  /// A path; none is `off`.
  public static SettingType<Optional<Path>> pathOrOff() {
    return new SettingType<>("PATH", "a path, or off", text -> text.isBlank() || text.equals("off")
        ? Optional.empty()
        : Optional.of(Path.of(text)), path -> path.map(Path::toString).orElse("off"));
  }

  /// A path.
  public static SettingType<Path> path() {
    return new SettingType<>("PATH", "a path", text -> {
      if (text.isBlank()) {
        throw new IllegalArgumentException();
      }
      return Path.of(text);
    }, Path::toString);
  }

  /// A file; none is `auto`.
  public static SettingType<Optional<Path>> fileOrAuto() {
    return new SettingType<>("FILE", "a file, or auto", text -> text.isBlank() || text.equals(AUTO)
        ? Optional.empty()
        : Optional.of(Path.of(text)), file -> file.map(Path::toString).orElse(AUTO));
  }

  public static SettingType<String> text() {
    return new SettingType<>("TEXT", "not empty", text -> {
      if (text.isBlank()) {
        throw new IllegalArgumentException();
      }
      return text.strip();
    }, Function.identity());
  }

  public static <E extends Enum<E>> SettingType<E> oneOf(Class<E> type) {
    String names = String.join(", ", Arrays.stream(type.getEnumConstants()).map(SettingType::lower).toList());
    return new SettingType<>("NAME", "one of " + names,
        text -> Enum.valueOf(type, text.strip().replace('-', '_').toUpperCase(Locale.ROOT)),
        SettingType::lower);
  }

  public static SettingType<Duration> duration() {
    return duration(Duration.ofMillis(1));
  }

  public static SettingType<Duration> duration(Duration least) {
    return new SettingType<>("DURATION",
        "a duration of at least " + Durations.print(least) + ", such as 500ms, 30s or 2m", text -> {
          Duration value = Durations.parse(text);
          if (value.compareTo(least) < 0) {
            throw new IllegalArgumentException();
          }
          return value;
        }, Durations::print);
  }

  private static int within(int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException();
    }
    return value;
  }

  private static String lower(Enum<?> name) {
    return name.name().toLowerCase(Locale.ROOT);
  }
}
