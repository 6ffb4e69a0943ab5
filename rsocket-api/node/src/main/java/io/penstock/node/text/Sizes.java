package io.penstock.node.text;

import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads and writes sizes in bytes.
///
/// Units are powers of 1024 however they are spelled, as users of KV caches expect: `64KiB`, `64 KB` and `64k` are all
/// 65536. Letter case and spaces do not matter, and a fraction may be given as long as the whole is a number of bytes:
/// `1.5GB`.
public final class Sizes {
  private static final Pattern FORM = Pattern.compile("\\s*(\\d{1,19}(?:\\.\\d{1,9})?)\\s*([a-zA-Z]*)\\s*");
  private static final List<String> UNITS = List.of("B", "KiB", "MiB", "GiB", "TiB");

  private Sizes() {}

  /// @return the bytes that `text` says, at least 0
  /// @throws IllegalArgumentException if it says no size
  public static long parseBytes(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw refused(text);
    }
    BigDecimal factor = BigDecimal.valueOf(1L << (10 * power(form.group(2), text)));
    try {
      return new BigDecimal(form.group(1)).multiply(factor).longValueExact();
    } catch (ArithmeticException e) {
      throw refused(text);
    }
  }

  /// The exact size in the largest unit that leaves no fraction: `64 KiB`, `1536 B`. [#parseBytes] reads it back.
  public static String exact(long bytes) {
    int power = 0;
    while (power < UNITS.size() - 1 && bytes != 0 && bytes % 1024 == 0) {
      bytes /= 1024;
      power++;
    }
    return bytes + " " + UNITS.get(power);
  }

  /// The size for a reader, to three digits or so: `1.46 GiB`.
  public static String human(double bytes) {
    int power = 0;
    while (power < UNITS.size() - 1 && Math.abs(bytes) >= 1024) {
      bytes /= 1024;
      power++;
    }
    int digits = power == 0 || Math.abs(bytes) >= 100 ? 0 : Math.abs(bytes) >= 10 ? 1 : 2;
    return String.format(Locale.ROOT, "%." + digits + "f %s", bytes, UNITS.get(power));
  }

  private static int power(String unit, String text) {
    return switch (unit.toLowerCase(Locale.ROOT)) {
      case "", "b" -> 0;
      case "k", "kb", "kib" -> 1;
      case "m", "mb", "mib" -> 2;
      case "g", "gb", "gib" -> 3;
      case "t", "tb", "tib" -> 4;
      default -> throw refused(text);
    };
  }

  private static IllegalArgumentException refused(String text) {
    return new IllegalArgumentException("size must be whole bytes, in B, KiB, MiB, GiB or TiB (was " + text + ")");
  }
}
