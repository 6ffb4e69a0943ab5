package io.penstock.cluster.infinispan;

import io.penstock.check.Uncaught;
import io.penstock.cluster.directory.AnnounceParts;
import io.penstock.cluster.directory.AnnounceTerms;
import io.penstock.cluster.directory.Announcer;
import io.penstock.cluster.directory.BlockNames;
import io.penstock.cluster.directory.Locate;
import io.penstock.cluster.directory.Pace;
import io.penstock.cluster.directory.Sweep;
import io.penstock.cluster.shared.ReplicatedTables;
import io.penstock.node.cluster.ClusterTerms;
import io.penstock.node.cluster.Membership;
import io.penstock.operator.Handover;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.infinispan.configuration.cache.StorageType;
import org.jgroups.JChannel;
import reactor.core.publisher.Mono;

/// How a node joins a cluster that Infinispan keeps.
///
/// @param names looks up the names of seeds
/// @param random for keys and numbers that no other member may have
/// @param storage of the directory's entries
/// @param keysPerSecond most names a second of blocks that a node had before, see [Pace]
/// @param times how long members wait for each other
public record Joining(SeedDiscovery.Names names, SecureRandom random, StorageType storage, long keysPerSecond,
    ChannelTimes times) {
  private static final int SENDER_BYTES = 16;
  private static final Duration SWEEP_GRACE = Duration.ofSeconds(10);

  /// As nodes join.
  public static Joining defaults() {
    return new Joining(InetAddress::getAllByName, new SecureRandom(), StorageType.OFF_HEAP, 200_000,
        ChannelTimes.DEFAULTS);
  }

  /// Joins a cluster, or forms it. A cancel before the end leaves it.
  ///
  /// @return cold; signals an `IOException` that says what could not be bound, or which name is taken
  public Mono<Membership> join(ClusterTerms terms) {
    return Handover.of(Mono.create(sink -> {
      MemberThreads threads = MemberThreads.start();
      threads.writer().schedule(() -> {
        InfinispanMembership membership;
        try {
          membership = open(terms, threads);
        } catch (Exception | LinkageError e) {
          threads.end();
          sink.error(failure(terms, e));
          return;
        }
        sink.onCancel(() -> membership.close().subscribe(nothing -> {}, Uncaught::report));
        membership.enter().subscribe(nothing -> {},
            error -> membership.close().subscribe(nothing -> {}, Uncaught::report,
                () -> sink.error(failure(terms, error))),
            () -> sink.success(membership));
      });
    }), late -> late.close().subscribe(nothing -> {}, Uncaught::report));
  }

  private InfinispanMembership open(ClusterTerms terms, MemberThreads threads)
      throws IOException, GeneralSecurityException {
    ClusterKeys keys = ClusterKeys.of(terms.cluster(), terms.secret());
    BlockNames blockNames = new BlockNames(keys.forNames(BlockNames.SECRET_BYTES));
    EmbeddedCaches caches = EmbeddedCaches.join(channel(terms, keys), terms.cluster(), terms.node(), storage);
    try {
      return membership(terms, threads, caches, blockNames);
    } catch (RuntimeException | Error e) { // or a member without a record would stay in the engine
      caches.close();
      throw e;
    }
  }

  private InfinispanMembership membership(ClusterTerms terms, MemberThreads threads, EmbeddedCaches caches,
      BlockNames blockNames) {
    UUID address = caches.manager().getAddress().getNodeUUID();

    MemberSteps steps = new MemberSteps();
    MemberTable table = new MemberTable(caches, steps, () -> terms.timers().now(TimeUnit.NANOSECONDS));
    ClusterEvents events = new ClusterEvents(table::read, () -> steps.reunited(true), steps::roundsEnded);
    DistributedMap map = new DistributedMap(caches.blocks(), events.losses(), threads.waiting(), threads.sweeper(),
        terms.timers());
    Sweep sweep = new Sweep(map, table::known, SWEEP_GRACE, terms.timers());
    OwnRecord own = new OwnRecord(terms, address, table, threads.writer());
    AnnounceTerms announce = AnnounceTerms.defaults();
    Announcer announcer = new Announcer(new AnnounceParts(map, blockNames, own,
        new Pace(keysPerSecond, announce.batch(), terms.timers()), announce, numbers(), terms.timers()));
    Locate directory = new Locate(map, blockNames, table::known);
    steps.begin(own, events, sweep);
    events.listenTo(caches);
    return new InfinispanMembership(terms, caches, threads, events, table, own, announcer, directory, sweep,
        new ReplicatedTables(caches.shared(), threads.writer()));
  }

  private JChannel channel(ClusterTerms terms, ClusterKeys keys) throws IOException, GeneralSecurityException {
    Seal seal = null;
    if (keys.isSecret()) {
      byte[] sender = new byte[SENDER_BYTES];
      random.nextBytes(sender);
      seal = new Seal(keys, sender);
    }
    List<Seed> seeds = terms.seeds().stream().map(Seed::parse).toList();
    requireAnyAddress(seeds);
    return new ChannelPlan(BoundHost.of(terms.host()), terms.port(), seeds, names, seal, times).channel(
        terms.node());
  }

  /// Refuses seeds of which none has an address: a name that is spelt wrong would make a cluster of its own.
  private void requireAnyAddress(List<Seed> seeds) throws UnknownHostException {
    UnknownHostException unknown = null;
    for (Seed seed : seeds) {
      try {
        names.addresses(seed.host());
        return;
      } catch (UnknownHostException e) {
        unknown = e;
      }
    }
    if (unknown != null) {
      throw unknown;
    }
  }

  private LongSupplier numbers() {
    return () -> {
      long number = random.nextLong() >>> 1;
      return number != 0 ? number : 1;
    };
  }

  /// An error that says where the node wanted to join, and the first cause, which names what was wrong.
  private static IOException failure(ClusterTerms terms, Throwable error) {
    if (error instanceof NameTakenException taken) {
      return taken;
    }
    Throwable cause = error;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String why = cause.getMessage() != null ? cause.getMessage() : cause.toString();
    return new IOException("cluster " + terms.cluster() + " must be joined at " + terms.host() + ":" + terms.port()
        + " (" + why + ")", error);
  }
}
