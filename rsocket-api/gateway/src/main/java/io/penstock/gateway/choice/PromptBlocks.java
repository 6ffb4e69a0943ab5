package io.penstock.gateway.choice;

import io.penstock.check.Checks;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/// The whole blocks of a prompt, each named by 64 bits for itself and all blocks before it.
///
/// The name chains the tokens: `name = end(fold(fold(begin(parent, count), token), …))`. It is made of tokens alone,
/// so events of engines that hash in different ways meet in one index, as long as
/// they report the tokens of their blocks.
/// Names serve a choice, no lookup of bytes: two prompts whose names meet cost a miss.
public final class PromptBlocks {
  /// The name before the first block of a prompt without adapter and salt.
  public static final long ROOT = 0x50454E53544F434BL;

  private PromptBlocks() {}

  /// The name before the first block of prompts that share no blocks with prompts of another salt or adapter.
  ///
  /// @param adapter name of the LoRA adapter; null for none
  /// @param salt that separates the prompts of a tenant; null for none
  public static long root(@Nullable String adapter, @Nullable String salt) {
    return extended(extended(ROOT, adapter), salt);
  }

  /// A name that depends on a text beside its tokens, such as the hash of an image; the name itself if `text` is null.
  public static long extended(long name, @Nullable String text) {
    if (text == null) {
      return name;
    }
    long state = begin(name, text.length());
    for (int i = 0; i < text.length(); i++) {
      state = fold(state, text.charAt(i));
    }
    return end(state);
  }

  /// Begins the name of a block.
  ///
  /// @param parent name of the block before it; [#root] for none
  /// @param count tokens of the block
  public static long begin(long parent, int count) {
    return mix(parent ^ count);
  }

  /// Adds the next token to what [#begin] began.
  public static long fold(long state, int token) {
    long folded = (state ^ token) * 0x9E3779B97F4A7C15L;
    return folded ^ (folded >>> 29);
  }

  /// The name, once all tokens of the block are added.
  public static long end(long state) {
    return mix(state);
  }

  /// Names of the whole blocks of `tokens`.
  ///
  /// @param root see [#root]
  public static long[] names(long root, int[] tokens, int blockTokens) {
    return names(root, tokens.length, blockTokens, i -> tokens[i]);
  }

  /// Names of the whole pieces of a text, of `chars` characters each. They never meet the names of tokens.
  public static long[] ofText(long root, CharSequence text, int chars) {
    return names(extended(root, "text"), text.length(), chars, text::charAt);
  }

  private static long[] names(long root, int length, int each, IntUnaryOperator at) {
    Checks.positive("each", each);
    long[] names = new long[length / each];
    long parent = root;
    for (int i = 0; i < names.length; i++) {
      long state = begin(parent, each);
      for (int j = i * each; j < (i + 1) * each; j++) {
        state = fold(state, at.applyAsInt(j));
      }
      parent = end(state);
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
