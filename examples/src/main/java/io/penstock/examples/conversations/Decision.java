package io.penstock.examples.conversations;

import io.penstock.flow.LoadPrefix.Part;
import io.penstock.flow.LoadPrefix.Plan;
import io.penstock.flow.LoadPrefix.Rate;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Decision about one prompt: the part that was fetched, and the inputs of the decision.
///
/// @param reason `miss`, `unknown` (no fresh estimate: fetched, to learn), `fetch`, `part` or `compute`
/// @param foundBlocks blocks of the prefix that the node had
/// @param fetchBlocks blocks of it that were fetched; the others were computed
/// @param planMillis estimate: fetching these, and computing the others
/// @param fetchMillis estimate: fetching all that was found
/// @param computeMillis estimate: computing all that was found
/// @param inputs places of the found blocks, in order
record Decision(int conversation, int turn, String reason, int foundBlocks, int fetchBlocks, double planMillis,
    double fetchMillis, double computeMillis, List<Input> inputs) {
  private static final double NANOS = Duration.ofMillis(1).toNanos();

  Decision {
    inputs = List.copyOf(inputs);
  }

  /// Found blocks of one place, and its speed; null without a fresh estimate.
  ///
  /// @param queuedBytes of transfers under way, which come first
  record Input(String place, int blocks, @Nullable Double bytesPerSecond, @Nullable Double latencyMillis,
      @Nullable Long queuedBytes) {
    private static Input of(Part part) {
      Rate rate = part.rate();
      return rate == null
          ? new Input(part.place(), part.blocks(), null, null, null)
          : new Input(part.place(), part.blocks(), rate.bytesPerSecond(), rate.latencyNanos() / NANOS,
              rate.queuedBytes());
    }
  }

  static Decision of(int conversation, int turn, Plan plan) {
    return new Decision(conversation, turn, plan.reason().name().toLowerCase(Locale.ROOT), plan.foundBlocks(),
        plan.fetchBlocks(), plan.planNanos() / NANOS, plan.fetchNanos() / NANOS, plan.computeNanos() / NANOS,
        plan.parts().stream().map(Input::of).toList());
  }
}
