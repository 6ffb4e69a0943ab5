package io.penstock.node.tiers;

import io.penstock.node.text.Json;
import io.penstock.recording.RecordedTier;
import io.penstock.recording.Turns;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.TierInputs;
import java.util.List;

/// A tier of host memory alone, on a clock of its own, such as that of a simulation; recorded, it can be played by
/// [PlayedTiers].
///
/// @param tier for its callers
/// @param stack behind it
public record HostTiers(BlockTier tier, TierStack stack) {
  /// Opens a tier that is not recorded.
  ///
  /// @param plan of one space, without a device and a disk
  public static HostTiers open(TierPlan plan, boolean verifiesReads, TierInputs inputs) {
    TierStack stack = stack(plan, verifiesReads, inputs);
    return new HostTiers(stack, stack);
  }

  /// Opens a tier that is recorded.
  ///
  /// @param plan of one space without a salt, without a device and a disk
  /// @param turns order of the recording
  /// @param number of the tier in the recording
  public static HostTiers record(TierPlan plan, boolean verifiesReads, TierInputs inputs, Turns turns, int number) {
    TierRecording.requireRecordable(plan);
    TierStack[] stack = new TierStack[1];
    RecordedTier tier = RecordedTier.open(turns, number, Json.MAPPER.writeValueAsString(TierWords.of(plan, List.of())),
        inputs, List.of(), (recorded, stores) -> {
          stack[0] = stack(plan, verifiesReads, recorded);
          return stack[0];
        });
    return new HostTiers(tier, stack[0]);
  }

  private static TierStack stack(TierPlan plan, boolean verifiesReads, TierInputs inputs) {
    StackOptions options = NodeTiers.options(plan.name(), plan).withVerifyReads(verifiesReads);
    return new TierStack(plan.space(), NodeTiers.levels(plan, List.of(), 0), options, TierListener.noop(), inputs,
        Sampling.none());
  }
}
