package io.penstock.stack.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.tier.TierEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Readers of an [EventLog] without a stack.
final class EventLogTest {
  @Test
  void stepsOfASnapshotWithoutABlock_areNotItsEnd() {
    List<TierEvent> read = new ArrayList<>();
    new EventLog(8).follow(from -> switch (from) {
      case 0 -> new SnapshotPage(0, List.of(new TierEvent.SnapshotStarted(0, List.of())), 1);
      case 3 -> new SnapshotPage(0, List.of(new TierEvent.SnapshotEnded(0)), -1);
      default -> new SnapshotPage(0, List.of(), from + 1);
    }).subscribe(read::add);
    assertThat(read).containsExactly(new TierEvent.SnapshotStarted(0, List.of()), new TierEvent.SnapshotEnded(0));
  }
}
