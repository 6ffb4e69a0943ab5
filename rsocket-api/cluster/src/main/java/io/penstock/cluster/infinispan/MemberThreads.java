package io.penstock.cluster.infinispan;

import java.util.concurrent.Executors;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The threads of a member beside those of Infinispan and JGroups, which are virtual. Daemons.
///
/// @param writer one thread: joins, leaves, and writes this member's record
/// @param waiting virtual threads, each of which waits for a change of the directory
/// @param sweeper one thread: walks over the entries kept here
record MemberThreads(Scheduler writer, Scheduler waiting, Scheduler sweeper) {
  static MemberThreads start() {
    return new MemberThreads(Schedulers.newSingle("cluster-write", true),
        Schedulers.fromExecutorService(
            Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("cluster-change-", 0).factory())),
        Schedulers.newSingle("cluster-sweep", true));
  }

  /// Ends the threads once they have done what they were given. Does not wait for it, so one of them may ask.
  void end() {
    writer.disposeGracefully().subscribe();
    waiting.disposeGracefully().subscribe();
    sweeper.disposeGracefully().subscribe();
  }
}
