package io.penstock.examples.conversations;

/// Result of a [ConversationsRun]. The two nodes had equal conversations, in equal order.
///
/// @param hbmBlocks blocks that device memory holds
/// @param dramBlocks blocks that host memory holds
/// @param ssdBlocks blocks that the disk of the second node holds
/// @param tokensPerSecond assumed speed of a prefill
/// @param choice how much of a prefix is fetched: `always` all, `cost` the part that is faster to fetch than to compute
record ConversationsReport(int conversations, int turns, int systemTokens, int blockTokens, int blockBytes,
    long hbmBlocks, long dramBlocks, long ssdBlocks, String policy, double tokensPerSecond,
    String choice, long seed,
    Outcome withoutSsd, Outcome withSsd) {
  boolean isGood() {
    return withoutSsd.isGood() && withSsd.isGood();
  }

  /// Seconds of a prefill of `tokens`, at the assumed speed.
  double seconds(long tokens) {
    return tokens / tokensPerSecond;
  }
}
