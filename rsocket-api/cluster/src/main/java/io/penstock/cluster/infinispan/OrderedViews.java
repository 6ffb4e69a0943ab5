package io.penstock.cluster.infinispan;

import java.util.Collection;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jgroups.Address;
import org.jgroups.View;
import org.jgroups.ViewId;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.util.Digest;
import org.jspecify.annotations.Nullable;

/// Makes views and installs them, with two mends of JGroups 5.5.2:
///
/// - A view reaches all protocols before the next one does. A member that joins installs its first view on another
///   thread than the second, and the older one could come last: the protocols then work with members that are gone, and
///   without some that are there (JGRP-3036).
/// - The first view of a new maker counts more than the last one of the maker before. A maker that dies while it sends
///   a view leaves members with it and members without; if the next maker is without, its view would have the same
///   number, and those with the other one would refuse it and keep the dead until parts of the cluster meet.
final class OrderedViews extends GMS {
  /// More views than a maker has under way.
  private static final long NEW_MAKER = 16;

  private final Lock order = new ReentrantLock();

  OrderedViews() {
    setId(ClassConfigurator.getProtocolId(GMS.class));
  }

  @Override
  public void installView(View view, @Nullable Digest digest) {
    order.lock();
    try {
      super.installView(view, digest);
    } finally {
      order.unlock();
    }
  }

  @Override
  public View getNextView(@Nullable Collection<Address> joiners, @Nullable Collection<Address> leavers,
      @Nullable Collection<Address> suspects) {
    lock.lock();
    try {
      ViewId last = getViewId();
      if (last != null && !last.getCreator().equals(local_addr)) {
        ltime = Math.max(ltime, last.getId()) + NEW_MAKER;
      }
      return super.getNextView(joiners, leavers, suspects);
    } finally {
      lock.unlock();
    }
  }
}
