package io.penstock.gateway.events;

import io.penstock.gateway.choice.PromptBlocks;
import org.jspecify.annotations.Nullable;

/// Names of a prompt as far as its tokens are known. The blocks of an engine may be larger or smaller than those of the
/// names: a large one gets several names, and a small one gets a name where a block of the names ends.
///
/// @param name of the last whole block
/// @param state of the block that is begun, see [PromptBlocks#fold]
/// @param filled tokens of the block that is begun
record NameChain(long name, long state, int filled) {
  private static final long[] NONE = {};

  /// The chain after more tokens.
  ///
  /// @param names of the blocks that ended within them
  @SuppressWarnings("ArrayRecordComponent") // read in place
  record Longer(NameChain chain, long[] names) {}

  static NameChain of(long root) {
    return new NameChain(root, 0, 0);
  }

  /// Adds tokens.
  ///
  /// @param extra text that belongs to them; null for none
  /// @param unit tokens of a block that has a name
  Longer with(int[] tokens, int from, int to, @Nullable String extra, int unit) {
    int whole = (filled + to - from) / unit;
    long[] names = whole == 0 ? NONE : new long[whole];
    long parent = filled == 0 ? PromptBlocks.extended(name, extra) : name;
    long now = filled == 0 ? 0 : PromptBlocks.extended(state, extra);
    int count = filled;
    int made = 0;
    for (int i = from; i < to; i++) {
      now = PromptBlocks.fold(count == 0 ? PromptBlocks.begin(parent, unit) : now, tokens[i]);
      count++;
      if (count == unit) {
        parent = PromptBlocks.end(now);
        names[made++] = parent;
        count = 0;
      }
    }
    return new Longer(new NameChain(parent, now, count), names);
  }
}
