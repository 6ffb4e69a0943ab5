package io.penstock.examples.disaggregated;

import io.penstock.examples.disaggregated.node.LayerTime;
import io.penstock.examples.disaggregated.node.Reply;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Result of one request.
///
/// @param request id
/// @param prefill number of the node that computed the prompt
/// @param decode number of the node that generated the text
/// @param monolithic text of one rank that did both
/// @param disaggregated text of the two nodes
/// @param bitsEqual whether all logits are numbers, and equal bit for bit
/// @param firstDifference number of the first token whose logits differ or have a NaN; -1 for none
/// @param steps of the decode's model after the prefill
/// @param guessed tokens of the draft head
/// @param accepted guesses
/// @param cachedTokens of the prompt that the decode had from earlier requests
/// @param tokenBytes of the tokens that the plan moved
/// @param movedBytes of cache that went from node to node, in whole blocks
/// @param prefix what the prefill did not compute
/// @param times of layers, in microseconds since the request began
record RequestReport(String request, int prefill, int decode, String monolithic, String disaggregated,
    boolean bitsEqual, int firstDifference, int steps, int guessed, int accepted, int cachedTokens, long tokenBytes,
    long movedBytes, Reply.@Nullable Prefix prefix, List<LayerTime> times) {
  /// Tokens that came from the decode of the turn before.
  int pulledTokens() {
    return prefix == null ? 0 : prefix.pulledTokens();
  }
}
