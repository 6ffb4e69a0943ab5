package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.MapLoss;
import io.penstock.operator.Serial;
import java.util.BitSet;
import java.util.List;
import org.infinispan.distribution.ch.ConsistentHash;
import org.infinispan.notifications.Listener;
import org.infinispan.notifications.cachelistener.annotation.CacheEntryCreated;
import org.infinispan.notifications.cachelistener.annotation.CacheEntryModified;
import org.infinispan.notifications.cachelistener.annotation.CacheEntryRemoved;
import org.infinispan.notifications.cachelistener.annotation.TopologyChanged;
import org.infinispan.notifications.cachelistener.event.CacheEntryEvent;
import org.infinispan.notifications.cachelistener.event.TopologyChangedEvent;
import org.infinispan.notifications.cachemanagerlistener.annotation.Merged;
import org.infinispan.notifications.cachemanagerlistener.annotation.ViewChanged;
import org.infinispan.notifications.cachemanagerlistener.event.MergeEvent;
import org.infinispan.notifications.cachemanagerlistener.event.ViewChangedEvent;
import org.infinispan.remoting.transport.Address;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/// What Infinispan tells of the cluster, as events of this engine. Infinispan calls listeners by reflection, so these
/// are public.
final class ClusterEvents {
  private final Sinks.Many<MapLoss> losses = Sinks.many().multicast().directBestEffort();
  private final Serial serial = new Serial();
  private final Runnable onMembers;
  private final Runnable onReunion;
  private final Runnable onSegments;

  /// @param onMembers runs when a member or its record may have changed; must be quick
  /// @param onReunion runs when parts of a split cluster met; must be quick
  /// @param onSegments runs when segments moved, perhaps to this member; must be quick
  ClusterEvents(Runnable onMembers, Runnable onReunion, Runnable onSegments) {
    this.onMembers = onMembers;
    this.onReunion = onReunion;
    this.onSegments = onSegments;
  }

  void listenTo(EmbeddedCaches caches) {
    caches.watch().onDeath(onMembers);
    caches.manager().addListener(new Views(this));
    caches.members().addListener(new Records(this));
    caches.blocks().addListener(new Segments(this));
  }

  Flux<MapLoss> losses() {
    return losses.asFlux();
  }

  /// Tells that the map is not what members said any more. A member that announces no tier does not care.
  void lose(MapLoss loss) {
    serial.run(() -> {
      Sinks.EmitResult told = losses.tryEmitNext(loss);
      if (told != Sinks.EmitResult.FAIL_ZERO_SUBSCRIBER && told != Sinks.EmitResult.FAIL_TERMINATED) {
        told.orThrow();
      }
    });
  }

  void close() {
    serial.run(() -> losses.tryEmitComplete().orThrow());
  }

  /// Listens to the views of the cluster.
  @Listener
  public static final class Views {
    private final ClusterEvents events;

    Views(ClusterEvents events) {
      this.events = events;
    }

    @ViewChanged
    public void changed(ViewChangedEvent event) {
      events.onMembers.run();
    }

    @Merged
    public void merged(MergeEvent event) {
      events.onMembers.run();
      events.onReunion.run();
    }
  }

  /// Listens to the records of members.
  @Listener
  public static final class Records {
    private final ClusterEvents events;

    Records(ClusterEvents events) {
      this.events = events;
    }

    @CacheEntryCreated
    @CacheEntryModified
    @CacheEntryRemoved
    public void changed(CacheEntryEvent<byte[], byte[]> event) {
      if (!event.isPre()) {
        events.onMembers.run();
      }
    }
  }

  /// Listens to who keeps which segment of the blocks.
  @Listener
  public static final class Segments {
    private final ClusterEvents events;

    Segments(ClusterEvents events) {
      this.events = events;
    }

    @TopologyChanged
    public void changed(TopologyChangedEvent<byte[], byte[]> event) {
      if (!event.isPre()) {
        events.onSegments.run();
        BitSet lost = lost(event.getWriteConsistentHashAtStart(), event.getWriteConsistentHashAtEnd());
        if (!lost.isEmpty()) {
          events.lose(new MapLoss.Segments(lost));
        }
      }
    }
  }

  /// Segments of which an owner before is no member after. With one owner each it took the segment along; while a
  /// segment moves it has two, and whichever is lost may have had the newest of it.
  static BitSet lost(@Nullable ConsistentHash before, @Nullable ConsistentHash after) {
    BitSet lost = new BitSet();
    if (before == null || after == null) {
      return lost;
    }
    List<Address> members = after.getMembers();
    for (int segment = 0; segment < before.getNumSegments(); segment++) {
      if (!members.containsAll(before.locateOwnersForSegment(segment))) {
        lost.set(segment);
      }
    }
    return lost;
  }
}
