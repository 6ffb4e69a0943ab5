package io.penstock.node.shape;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.check.Checks;
import io.penstock.node.setting.Capacity;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Reason;
import io.penstock.node.text.Sizes;
import java.util.Locale;

/// Size of a model's cache: the bytes, the tokens and the seconds of prefill that a number of blocks stands for.
///
/// @param model named for a person
/// @param blockTokens tokens of a block
/// @param blockBytes bytes of a block of the model
/// @param prefillRate tokens that an engine prefills in a second
public record ModelSize(String model, int blockTokens, long blockBytes, double prefillRate) {
  /// Tokens a second when nothing else is stated: a round figure, and not a measurement.
  public static final double DEFAULT_PREFILL_RATE = 10_000;

  private static final double GIB = 1L << 30;

  public ModelSize {
    requireNonNull(model, "model");
    Checks.positive("blockTokens", blockTokens);
    Checks.positive("blockBytes", blockBytes);
    if (!(prefillRate > 0) || Double.isInfinite(prefillRate)) {
      throw new IllegalArgumentException(
          "prefill.rate must be > 0 tokens a second (was " + Numbers.plain(prefillRate) + ")");
    }
  }

  /// The size of blocks that are stored as they are.
  public static ModelSize of(String model, BlockLayout layout) {
    return new ModelSize(model, layout.tokens(), layout.blockBytes(), DEFAULT_PREFILL_RATE);
  }

  public ModelSize withPrefillRate(double tokensPerSecond) {
    return new ModelSize(model, blockTokens, blockBytes, tokensPerSecond);
  }

  /// The size of blocks of another layout, such as those of one KV group.
  public ModelSize withBlockBytes(long bytes) {
    return new ModelSize(model, blockTokens, bytes, prefillRate);
  }

  /// Bytes of a token in all layers.
  public double bytesPerToken() {
    return (double) blockBytes / blockTokens;
  }

  /// Bytes of `blocks`; the largest number for more.
  public long bytes(long blocks) {
    return blocks > Long.MAX_VALUE / blockBytes ? Long.MAX_VALUE : blocks * blockBytes;
  }

  /// Whole blocks of `capacity`.
  ///
  /// @param option named where the capacity is refused
  /// @throws IllegalArgumentException if bytes were given and not even one block fits
  public long blocks(String option, Capacity capacity) {
    try {
      return capacity.inBlocks(blockBytes);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(Reason.about(option, e), e);
    }
  }

  /// Seconds in which an engine prefills `tokens`, with three decimals.
  public double seconds(double tokens) {
    return Math.round(1e3 * tokens / prefillRate) / 1e3;
  }

  /// The bytes of `blocks` in GiB, whatever their number, so that figures in a column compare: `4.00 GiB`,
  /// `4,688 GiB`. Less than a GiB is in a smaller unit.
  public String gib(long blocks) {
    double bytes = (double) blocks * blockBytes;
    double gib = bytes / GIB;
    return blocks == 0
        ? "0 GiB"
        : gib < 1
            ? Sizes.human(bytes)
            : String.format(Locale.ROOT, gib < 10 ? "%,.2f GiB" : gib < 100 ? "%,.1f GiB" : "%,.0f GiB", gib);
  }

  /// Blocks with their bytes: `64 blocks = 4.00 GiB`.
  public String words(long blocks) {
    return blocks == Long.MAX_VALUE ? "unbounded" : Plural.of(blocks, "block") + " = " + gib(blocks);
  }

  /// The model with the bytes of its tokens and blocks: `llama-3.1-8b, 128 KiB a token, 64 MiB a block of 512 tokens`.
  public String words() {
    return "%s, %s a token, %s a block of %s".formatted(model, round(bytesPerToken()), round(blockBytes),
        Plural.of(blockTokens, "token"));
  }

  private static String round(double bytes) {
    return Sizes.human(bytes).replaceFirst("\\.0+ ", " ");
  }

  /// Seconds of prefill for a reader: `4,811 s`, `0.32 s`.
  public static String secondsText(double seconds) {
    return String.format(Locale.ROOT, seconds < 10 ? "%,.2f s" : seconds < 100 ? "%,.1f s" : "%,.0f s", seconds);
  }

  /// Tokens for a reader, in millions from a million on: `36,864`, `6.57 M`, `54.1 M`.
  public static String tokensText(double tokens) {
    return tokens < 1e6
        ? Numbers.of(Math.round(tokens))
        : String.format(Locale.ROOT, tokens < 1e7 ? "%.2f M" : "%,.1f M", tokens / 1e6);
  }

  /// The prefill rate for a reader: `10,000 tokens/s`.
  public String rateText() {
    return String.format(Locale.ROOT, prefillRate == Math.rint(prefillRate) ? "%,.0f tokens/s" : "%,.2f tokens/s",
        prefillRate);
  }
}
