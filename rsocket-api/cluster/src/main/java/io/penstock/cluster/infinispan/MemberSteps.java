package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.MapLoss;
import io.penstock.cluster.directory.Sweep;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What follows from a change of the members. Safe from any thread; does nothing before it begins.
final class MemberSteps implements MemberTable.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(MemberSteps.class);

  private volatile @Nullable Parts parts;

  private record Parts(OwnRecord own, ClusterEvents events, Sweep sweep) {}

  void begin(OwnRecord own, ClusterEvents events, Sweep sweep) {
    parts = new Parts(own, events, sweep);
  }

  @Override
  public void roundsEnded() {
    Parts now = parts;
    if (now != null) {
      now.sweep().want();
    }
  }

  @Override
  public void reunited(boolean isOwn) {
    Parts now = parts;
    if (now != null) {
      now.events().lose(new MapLoss.Healed());
      if (isOwn) {
        now.own().tellReunion().subscribe(nothing -> {},
            error -> LOG.info("a reunion is told a moment later: {}", error.toString())); // with the next figures
      }
    }
  }
}
