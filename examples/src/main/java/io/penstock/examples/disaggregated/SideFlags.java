package io.penstock.examples.disaggregated;

import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane.ElementType;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.PlanRefusedException;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.KvFormat;

/// Values of the flags of one side. A message about a value names the flag.
///
/// @param side prefill or decode, the beginning of its flags
/// @param blockSizeFlag that has the size of its blocks
record SideFlags(String side, int tp, int pp, int pcp, int dcp, String blockSizeFlag, int blockTokens,
    TokenOrder order) {
  /// Ranks of one process: each prefill rank listens on a port, and each rank has arenas of its own.
  static final int MOST_RANKS = 64;

  /// @throws IllegalArgumentException naming the flags of the first rule that the split breaks
  Deployment deployment(Model model) {
    if (Math.min(tp, Math.min(pp, pcp)) > 0 && (double) tp * pp * pcp > MOST_RANKS) {
      throw new IllegalArgumentException("%s × %s × %s must be <= %d (was %d × %d × %d)".formatted(flag("tp"),
          flag("pp"), flag("pcp"), MOST_RANKS, tp, pp, pcp));
    }
    try {
      return Deployment.of(model, new Parallelism(tp, pp, 1, pcp, dcp),
          new KvFormat(blockTokens, order, ElementType.FP32));
    } catch (PlanRefusedException e) {
      throw new IllegalArgumentException("%s must divide %s / KV heads, the ranks with equal KV heads (was %s, %s)"
          .formatted(flag("dcp"), flag("tp"), e.value(), e.otherValue()), e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(named(String.valueOf(e.getMessage())), e);
    }
  }

  private String flag(String field) {
    return "--" + side + "-" + field;
  }

  /// The message with the flag for the field that it begins with.
  private String named(String message) {
    String field = message.substring(0, Math.max(0, message.indexOf(' ')));
    return switch (field) {
      case "tp", "pp", "pcp", "dcp" -> flag(message);
      case "blockTokens" -> blockSizeFlag + message.substring(field.length());
      default -> message;
    };
  }
}
