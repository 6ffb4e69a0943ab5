package io.penstock.examples.conversations;

import static java.util.Objects.requireNonNull;

import io.penstock.block.EvictionPolicy;
import io.penstock.node.text.Sizes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/// What a [ConversationsRun] does.
///
/// @param directory of the journals, one for each node with a disk
/// @param conversations number of conversations
/// @param turns questions of each conversation
/// @param systemTokens length of the system prompt that all conversations share
/// @param memory of the nodes
/// @param policy which block a node evicts first
/// @param tokensPerSecond assumed speed of a prefill
/// @param choice how much of a prefix is fetched
/// @param seed for tokens, lengths, and the order of the turns
record ConversationsOptions(Path directory, int conversations, int turns, int systemTokens, Memory memory,
    EvictionPolicy policy, double tokensPerSecond, ChoiceRule choice, long seed) {
  private static final int MOST_SYSTEM_TOKENS = 1 << 20;

  ConversationsOptions {
    requireNonNull(directory, "directory");
    requireNonNull(memory, "memory");
    requireNonNull(policy, "policy");
    requireNonNull(choice, "choice");
    requireIn("--conversations", conversations, 1, 10_000);
    requireIn("--turns", turns, 1, 1_000);
    requireIn("--system", systemTokens, ConversationNode.BLOCK_TOKENS, MOST_SYSTEM_TOKENS);
    if (!(tokensPerSecond > 0) || Double.isInfinite(tokensPerSecond)) {
      throw new IllegalArgumentException("--prefill-speed must be > 0 (was " + tokensPerSecond + ")");
    }
  }

  private static void requireIn(String flag, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException("%s must be from %d to %d (was %d)".formatted(flag, least, most, value));
    }
  }

  /// @param hbmBytes device memory of a node
  /// @param dramBytes host memory of a node, for stored blocks
  /// @param ssdBytes disk of the second node
  record Memory(long hbmBytes, long dramBytes, long ssdBytes) {
    Memory {
      requireBlock("--hbm", hbmBytes);
      requireBlock("--dram", dramBytes);
      requireBlock("--ssd", ssdBytes);
    }
  }

  private static void requireBlock(String flag, long bytes) {
    if (bytes < ConversationNode.BLOCK_BYTES) {
      throw new IllegalArgumentException("%s must be >= one block, %s (was %s)".formatted(flag,
          Sizes.exact(ConversationNode.BLOCK_BYTES), Sizes.exact(bytes)));
    }
  }

  static long blocks(long bytes) {
    return bytes / ConversationNode.BLOCK_BYTES;
  }

  /// Full blocks of the system prompt.
  int systemBlocks() {
    return systemTokens / ConversationNode.BLOCK_TOKENS;
  }

  List<Conversation> all() {
    return IntStream.range(0, conversations).mapToObj(number -> Conversation.of(this, number)).toList();
  }

  /// The number of the conversation that has its next turn: at first each in order, then at random.
  List<Integer> order() {
    List<Integer> first = IntStream.range(0, conversations).boxed().toList();
    List<Integer> rest = new ArrayList<>();
    IntStream.range(1, turns).forEach(turn -> rest.addAll(first));
    Collections.shuffle(rest, new Random(seed));
    List<Integer> order = new ArrayList<>(first);
    order.addAll(rest);
    return order;
  }

  /// Seconds that a prefill of `tokens` takes.
  double seconds(long tokens) {
    return tokens / tokensPerSecond;
  }
}
