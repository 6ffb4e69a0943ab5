package io.penstock.gateway.choice;

import io.penstock.check.Checks;

/// The whole blocks of a prompt, each named by 64 bits for itself and all blocks before it.
///
/// The name chains the tokens: `name = mix(parent, tokens)`. It is made of tokens alone, so events of engines that hash
/// in different ways meet in one index, as long as they tell the tokens of their blocks. Names serve a choice, no
/// lookup of bytes: two prompts whose names meet cost a miss.
public final class PromptBlocks {
  /// The name before the first block.
  public static final long ROOT = 0x50454E53544F434BL;

  private PromptBlocks() {}

  /// The name of a block.
  ///
  /// @param parent name of the block before it; [#ROOT] for none
  /// @param from index of the first token
  /// @param count tokens of the block
  public static long name(long parent, int[] tokens, int from, int count) {
    long name = mix(parent ^ count);
    for (int i = from; i < from + count; i++) {
      name = (name ^ tokens[i]) * 0x9E3779B97F4A7C15L;
      name ^= name >>> 29;
    }
    return mix(name);
  }

  /// Names of the whole blocks of `tokens`.
  public static long[] names(int[] tokens, int blockTokens) {
    Checks.positive("blockTokens", blockTokens);
    long[] names = new long[tokens.length / blockTokens];
    long parent = ROOT;
    for (int i = 0; i < names.length; i++) {
      parent = name(parent, tokens, i * blockTokens, blockTokens);
      names[i] = parent;
    }
    return names;
  }

  /// The name of a block of a trace, whose id stands for the block and all before it.
  public static long ofTraceId(long id) {
    return mix(id ^ ROOT);
  }

  /// The finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA '14).
  static long mix(long value) {
    long mixed = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    return mixed ^ (mixed >>> 31);
  }
}
