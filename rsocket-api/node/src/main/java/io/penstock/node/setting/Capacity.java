package io.penstock.node.setting;

import io.penstock.check.Checks;
import io.penstock.node.text.Sizes;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Capacity of a tier: a number of bytes, a number of blocks, everything, or nothing.
///
/// [#parse] and `toString()` are each other's inverse.
public sealed interface Capacity {
  /// The tier is left out.
  Capacity OFF = new Off();

  /// The tier never evicts.
  Capacity UNBOUNDED = new Unbounded();

  /// Blocks of `blockBytes` that fit: 0 if off, `Long.MAX_VALUE` if unbounded.
  ///
  /// @throws IllegalArgumentException if bytes were given and not even one block fits
  long inBlocks(long blockBytes);

  default boolean isOff() {
    return equals(OFF);
  }

  static Capacity ofBytes(long bytes) {
    return bytes == 0 ? OFF : new Bytes(bytes);
  }

  static Capacity ofBlocks(long blocks) {
    return blocks == 0 ? OFF : new Blocks(blocks);
  }

  /// Reads `10GiB`, `1000 blocks`, `unbounded`, or `0` and `off` for nothing.
  ///
  /// @throws IllegalArgumentException if it is none of these
  static Capacity parse(String text) {
    String plain = text.strip().toLowerCase(Locale.ROOT);
    Matcher blocks = Blocks.FORM.matcher(plain);
    try {
      if (blocks.matches()) {
        return ofBlocks(Long.parseLong(blocks.group(1)));
      }
      return switch (plain) {
        case "unbounded" -> UNBOUNDED;
        case "off" -> OFF;
        default -> ofBytes(Sizes.parseBytes(plain));
      };
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "capacity must be a size, \"N blocks\", unbounded, or 0 for off (was " + text + ")", e);
    }
  }

  /// A number of bytes.
  record Bytes(long bytes) implements Capacity {
    public Bytes {
      Checks.positive("bytes", bytes);
    }

    @Override
    public long inBlocks(long blockBytes) {
      if (bytes < blockBytes) {
        throw new IllegalArgumentException(
            "capacity must be >= one block of " + Sizes.exact(blockBytes) + " (was " + this + ")");
      }
      return bytes / blockBytes;
    }

    @Override
    public String toString() {
      return Sizes.exact(bytes);
    }
  }

  /// A number of blocks.
  record Blocks(long blocks) implements Capacity {
    private static final Pattern FORM = Pattern.compile("(\\d{1,18})\\s*blocks?");

    public Blocks {
      Checks.positive("blocks", blocks);
    }

    @Override
    public long inBlocks(long blockBytes) {
      return blocks;
    }

    @Override
    public String toString() {
      return blocks + " blocks";
    }
  }

  /// No limit.
  record Unbounded() implements Capacity {
    @Override
    public long inBlocks(long blockBytes) {
      return Long.MAX_VALUE;
    }

    @Override
    public String toString() {
      return "unbounded";
    }
  }

  /// Nothing at all.
  record Off() implements Capacity {
    @Override
    public long inBlocks(long blockBytes) {
      return 0;
    }

    @Override
    public String toString() {
      return "off";
    }
  }
}
