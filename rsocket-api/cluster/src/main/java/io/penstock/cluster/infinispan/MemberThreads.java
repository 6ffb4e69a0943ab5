package io.penstock.cluster.infinispan;

import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The two threads of a member; those of Infinispan and JGroups are virtual. Daemons.
///
/// @param writer joins, writes, and waits for what it wrote
/// @param sweeper walks over the entries kept here
record MemberThreads(Scheduler writer, Scheduler sweeper) {
  static MemberThreads start() {
    return new MemberThreads(Schedulers.newSingle("cluster-write", true), Schedulers.newSingle("cluster-sweep", true));
  }

  /// Ends the threads once they have done what they were given. Does not wait for it, so one of them may ask.
  void end() {
    writer.disposeGracefully().subscribe();
    sweeper.disposeGracefully().subscribe();
  }
}
