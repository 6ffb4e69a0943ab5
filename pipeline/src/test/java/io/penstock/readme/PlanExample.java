package io.penstock.readme;

import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import java.util.function.Consumer;

/// The example of docs/disaggregation.md.
final class PlanExample {
  private PlanExample() {}

  static void first(Consumer<Transfer> ask, Consumer<Rank> await, Consumer<Rank> release) {
    // README
    BlockLayout large = BlockLayout.attention(32, 128, 8, 128, ElementType.BF16); // blocks of 128 tokens
    BlockLayout small = BlockLayout.attention(32, 16, 8, 128, ElementType.BF16);
    Manifest prefill = Manifest.of("llama", large, Parallelism.ofTp(8).withPp(2));
    Manifest decode = Manifest.of("llama", small, Parallelism.ofTp(4));

    TransferPlan plan = new Planner(prefill, decode).plan(new KvRequest("cmpl-42", 1_000, 256));
    Rank first = decode.parallelism().rank(0);
    plan.to(first).forEach(ask); // what this decode rank asks for, in this order
    plan.senders(first).forEach(await); // whose completions it waits for
    plan.neverPulled().forEach(release); // what the first decode rank releases
    // README
  }
}
