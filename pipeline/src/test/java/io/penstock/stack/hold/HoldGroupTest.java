package io.penstock.stack.hold;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.stack.StackSteps;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.TierInputs;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The lease of a group, while its members come and go.
final class HoldGroupTest extends StackSteps {
  private final StackFigures figures = new StackFigures(StackShape.of(SPACE, List.of(new StackLevel.Host("dram", 16)),
      StackOptions.defaults("stack"), TierListener.noop(), TierInputs.ofSystem()));
  private final Map<String, HoldGroup> groups = new HashMap<>();

  @Test
  void membersThatLeave_leaveTheLease_howeverOftenItIsRenewed() {
    HoldGroup group = new HoldGroup("turn 1", groups);
    HoldParty party = new HoldParty("groups");
    HeldLease lease = new HeldLease(0, party, Duration.ofSeconds(10), true);
    group.leaseWith(lease);
    for (int i = 0; i < 8; i++) {
      Resident block = new Resident(key(i), 0, figures);
      block.show();
      group.join(block);
      lease.add(block);
      party.hold(1);
      if (i > 0) {
        block.remove();
      }
    }
    assertThat(lease.size()).isOne();
    assertThat(party.blocks()).isOne();
    assertThat(figures.leased()).isOne();
  }
}
