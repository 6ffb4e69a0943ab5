package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.TransientKvException;
import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.client.KvPeerOptions;
import io.penstock.wire.client.Lane;
import io.penstock.wire.client.RemoteTier;
import io.penstock.wire.cluster.Member;
import io.penstock.wire.transport.Endpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// One connection to each member of a cluster, made when it is needed, and ended some time after the
/// member has left. Safe from any thread.
final class Peers {
  private static final KvPeerOptions CONNECTIONS = KvPeerOptions.defaults().withIdleAfter(Duration.ofDays(1))
      .withBackOff(Duration.ofMillis(50), Duration.ofSeconds(2));

  private static final Logger LOG = LoggerFactory.getLogger(Peers.class);
  /// Views without a member, and time since the first of them, after which it has left.
  private static final int ABSENT_VIEWS = 3;
  private static final Duration ABSENT = Duration.ofSeconds(5);

  private final Function<Endpoint, Mono<KvClient>> connecting;
  private final CacheSpace space;
  private final Scheduler timers;
  private final RandomGenerator random;
  @GuardedBy("this") private final Map<ClusterEvents.Start, Lane<Reached>> lanes = new HashMap<>();
  @GuardedBy("this") private final Map<ClusterEvents.Start, Absence> absent = new HashMap<>();
  /// The view of [#keep] that all connections were compared with; null if there are later ones.
  @GuardedBy("this") private @Nullable List<Member> kept;
  @GuardedBy("this") private boolean closed;

  /// A node behind a connection.
  record Reached(KvClient client, RemoteTier tier) {}

  /// @param connecting cold; connects to a node
  /// @param timers for pauses; never used for work
  Peers(Function<Endpoint, Mono<KvClient>> connecting, CacheSpace space, Scheduler timers, RandomGenerator random) {
    this.connecting = connecting;
    this.space = space;
    this.timers = timers;
    this.random = random;
  }

  Scheduler timers() {
    return timers;
  }

  /// A connection to whichever node is at `place`.
  Lane<Reached> lane(Endpoint place) {
    return lane(connecting.apply(place));
  }

  private Lane<Reached> lane(Mono<KvClient> open) {
    Mono<Reached> reached = open.switchIfEmpty(Mono.error(Peers::none))
        .map(client -> new Reached(client, new RemoteTier(client, space)));
    return new Lane<>(new Lane.Link<>(reached,
        connection -> connection.client().onClose(), connection -> connection.client().close()), CONNECTIONS, timers,
        random);
  }

  /// The connection to this start of a member.
  synchronized Lane<Reached> lane(Member member) {
    if (closed) {
      throw new LaneClosedException();
    }
    return lanes.computeIfAbsent(ClusterEvents.start(member), start -> {
      kept = null;
      return lane(connected(member));
    });
  }

  /// At the first endpoint that answers. Forms that are unknown here, as a later release may tell, are passed over.
  private Mono<KvClient> connected(Member member) {
    Mono<KvClient> first = Mono.error(() -> new NoEndpointException(member));
    for (Endpoint place : places(member).reversed()) {
      Mono<KvClient> others = first;
      first = Mono.defer(() -> connecting.apply(place)).onErrorResume(Exception.class,
          failed -> others.onErrorMap(NoEndpointException.class, none -> failed));
    }
    return first.flatMap(client -> client.generation() == member.generation()
        ? Mono.just(client)
        : client.close().then(Mono.error(new MemberRestartedException(member, client.generation()))));
  }

  private static List<Endpoint> places(Member member) {
    List<Endpoint> places = new ArrayList<>();
    for (String place : member.endpoints()) {
      try {
        places.add(Endpoint.parse(place));
      } catch (IllegalArgumentException e) {
        LOG.debug("an endpoint of member {} has a form that is unknown here", member.name(), e);
      }
    }
    return places;
  }

  Mono<BlockTier> node(Member member) {
    return Mono.defer(() -> reached(lane(member))).map(Reached::tier);
  }

  static Mono<Reached> reached(Lane<Reached> lane) {
    return lane.with(Mono::just).next().switchIfEmpty(Mono.error(Peers::none))
        .onErrorMap(Lane.ClosedException.class, closed -> new LaneClosedException());
  }

  /// A member is never left out without a word.
  private static TransientKvException none() {
    return new TransientKvException("a member must give a connection (gave none)");
  }

  /// Ends connections to members that have left: those that were in none of several views, the first of them a while
  /// ago. One on which work runs lasts until that has ended; a node that leaves lets it.
  ///
  /// @param members of the view that came now
  @SuppressWarnings("ReferenceEquality") // comparing two lists would cost as many steps as they have members
  void keep(List<Member> members) {
    synchronized (this) {
      if (kept == members && absent.isEmpty()) {
        return;
      }
      kept = members;
    }
    Set<ClusterEvents.Start> there = new HashSet<>();
    members.forEach(member -> there.add(ClusterEvents.start(member)));
    List<ClusterEvents.Start> left = new ArrayList<>();
    synchronized (this) {
      absent.keySet().retainAll(lanes.keySet());
      absent.keySet().removeAll(there);
      long now = timers.now(TimeUnit.MILLISECONDS);
      for (ClusterEvents.Start start : lanes.keySet()) {
        if (!there.contains(start) && absent.computeIfAbsent(start, first -> new Absence(now)).isLasting(now)) {
          left.add(start);
        }
      }
      for (ClusterEvents.Start start : left) {
        end(start);
      }
    }
  }

  @GuardedBy("this") private void end(ClusterEvents.Start start) {
    Lane<Reached> lane = lanes.get(start);
    if (lane != null && lane.endUnless(reached -> reached.client().unanswered() > 0)) {
      lanes.remove(start);
      absent.remove(start);
    }
  }

  /// Views in which a member was missing, one after another.
  private static final class Absence {
    private final long sinceMillis;
    private int views;

    Absence(long sinceMillis) {
      this.sinceMillis = sinceMillis;
    }

    /// One view more.
    boolean isLasting(long nowMillis) {
      return ++views >= ABSENT_VIEWS && nowMillis - sinceMillis >= ABSENT.toMillis();
    }
  }

  Mono<Void> close() {
    return Mono.defer(() -> {
      List<Lane<Reached>> all;
      synchronized (this) {
        closed = true;
        all = List.copyOf(lanes.values());
        lanes.clear();
      }
      return Flux.fromIterable(all).flatMap(Lane::close).then();
    });
  }

  /// The connection to a node of the cluster was ended on this side: the node has left, or the client was closed.
  static final class LaneClosedException extends TransientKvException {
    LaneClosedException() {
      super("connection to a node of the cluster must be open (was closed)");
    }
  }

  /// A member tells no endpoint of a form that this side knows.
  static final class NoEndpointException extends TransientKvException {
    NoEndpointException(Member member) {
      super("member " + member.name() + " must tell an endpoint of a form that is known here (tells "
          + member.endpoints() + ")");
    }
  }

  /// A member was reached in another start than the cluster told: its blocks are not those that were told.
  static final class MemberRestartedException extends TransientKvException {
    MemberRestartedException(Member member, long generation) {
      super("node " + member.name() + " must be in its start " + member.generation() + " (was in " + generation + ")");
    }
  }
}
