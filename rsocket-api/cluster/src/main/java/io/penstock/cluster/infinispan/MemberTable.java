package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.KnownMembers;
import io.penstock.cluster.directory.Reunion;
import io.penstock.cluster.directory.Reunion.Seen;
import io.penstock.operator.SerialLoop;
import io.penstock.wire.cluster.Member;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.infinispan.AdvancedCache;
import org.infinispan.container.entries.InternalCacheEntry;
import org.infinispan.manager.DefaultCacheManager;
import org.infinispan.remoting.transport.Address;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The records of members, one under each name, in a cache that every member keeps. A member is there if it is in the
/// engine's view, was not found dead, and has a record. Safe from any thread.
final class MemberTable {
  private static final Logger LOG = LoggerFactory.getLogger(MemberTable.class);
  /// Looks in a row that miss a member, before its record is removed.
  private static final int MISSED_LOOKS = 3;

  private final DefaultCacheManager manager;
  private final DeathWatch watch;
  private final AdvancedCache<byte[], byte[]> cache;
  private final Listener listener;
  private final LongSupplier nanos;
  private final SerialLoop reading = new SerialLoop(this::readNow);
  /// Only for steps of `reading`.
  private final Reunion<UUID> reunion = new Reunion<>();
  /// Only for [#removeGone], which one thread calls.
  private final Map<UUID, Integer> missed = new HashMap<>();
  private volatile KnownMembers known = KnownMembers.NONE;
  private volatile Map<String, MemberRecord> records = Map.of();
  private volatile Map<String, Heard> heard = Map.of();
  /// Names of members whose records cannot be read, which is said once.
  private final Set<String> unreadable = ConcurrentHashMap.newKeySet();

  /// A record as it came, and when.
  private record Heard(byte[] bytes, long nanos) {}

  /// Is called in steps of a reading; must be quick.
  interface Listener {
    /// Rounds of announcements do not count any more.
    void roundsEnded();

    /// Parts of the cluster were split and met.
    ///
    /// @param isOwn whether this member noticed, rather than heard of it
    void reunited(boolean isOwn);
  }

  /// @param nanos clock of the ages of records
  MemberTable(EmbeddedCaches caches, Listener listener, LongSupplier nanos) {
    this.manager = caches.manager();
    this.watch = caches.watch();
    this.cache = caches.members();
    this.listener = listener;
    this.nanos = nanos;
  }

  /// The members as of the last reading.
  KnownMembers known() {
    return known;
  }

  /// The record of this name as of the last reading; null if no member that is there has it.
  @Nullable MemberRecord record(String name) {
    return records.get(name);
  }

  /// How long ago a reading found another record of this name than before; empty if no member that is there has it.
  Optional<Duration> toldAgo(String name) {
    Heard last = heard.get(name);
    return last == null ? Optional.empty() : Optional.of(Duration.ofNanos(nanos.getAsLong() - last.nanos()));
  }

  /// Reads all records; they are few, and in memory.
  void read() {
    reading.run();
  }

  private void readNow() {
    Set<UUID> present = present();
    Map<String, MemberRecord> byName = new HashMap<>();
    Map<UUID, Integer> reunions = new HashMap<>();
    Map<String, Heard> hearing = new HashMap<>();
    for (InternalCacheEntry<byte[], byte[]> entry : cache.getDataContainer()) {
      byte[] value = Bytes.of(entry.getValue());
      MemberRecord record = readable(Bytes.of(entry.getKey()), value);
      if (record != null && present.contains(record.address())) {
        String name = record.member().name();
        byName.put(name, record);
        reunions.put(record.address(), record.reunions());
        Heard before = heard.get(name);
        hearing.put(name, before != null && Arrays.equals(before.bytes(), value)
            ? before
            : new Heard(value, nanos.getAsLong()));
      }
    }
    heard = Map.copyOf(hearing);
    List<MemberRecord> sorted = new ArrayList<>(byName.values());
    sorted.sort(Comparator.comparing(record -> record.member().name()));
    KnownMembers before = known;
    records = Map.copyOf(byName);
    known = new KnownMembers(sorted.stream().map(MemberRecord::member).toList(),
        sorted.stream().map(MemberRecord::rounds).toList());
    if (known.lacksRoundsOf(before)) {
      listener.roundsEnded();
    }
    Seen seen = reunion.see(present, reunions);
    if (seen != Seen.NOTHING) {
      listener.reunited(seen == Seen.OWN);
    }
  }

  /// Removes the records of members that have been gone for some calls of this. One member of the cluster does it.
  void removeGone() {
    if (manager.isCoordinator()) {
      Set<UUID> present = present();
      for (InternalCacheEntry<byte[], byte[]> entry : cache.getDataContainer()) {
        byte[] value = Bytes.of(entry.getValue());
        MemberRecord record = readable(Bytes.of(entry.getKey()), value);
        if (record != null && isLongGone(record.address(), present)) {
          removed(cache.removeAsync(Bytes.of(entry.getKey()), value), record);
        }
      }
      missed.keySet().removeAll(present);
    }
  }

  private boolean isLongGone(UUID address, Set<UUID> present) {
    return !present.contains(address) && missed.merge(address, 1, Integer::sum) >= MISSED_LOOKS;
  }

  private void removed(CompletableFuture<Boolean> removal, MemberRecord record) {
    missed.remove(record.address());
    removal.exceptionally(error -> {
      LOG.debug("record of {} stays for now", record.member().name(), error);
      return false;
    });
  }

  /// Adds the first record of a member.
  ///
  /// @return null if it is in, else the record of the living member that has its name
  @Nullable MemberRecord add(MemberRecord record) {
    byte[] key = key(record.member());
    byte[] before = cache.putIfAbsent(key, record.bytes());
    while (before != null) {
      MemberRecord other = readable(key, before);
      if (other != null && present().contains(other.address()) && !other.address().equals(record.address())) {
        return other;
      }
      if (cache.replace(key, before, record.bytes())) {
        return null;
      }
      before = cache.putIfAbsent(key, record.bytes());
    }
    return null;
  }

  CompletableFuture<?> put(MemberRecord record) {
    return cache.putAsync(key(record.member()), record.bytes());
  }

  /// Removes the record of this name if it is of this member.
  CompletableFuture<?> remove(MemberRecord record) {
    byte[] key = key(record.member());
    return cache.getAsync(key).thenCompose(bytes -> {
      MemberRecord stored = bytes == null ? null : readable(key, bytes);
      return stored != null && stored.address().equals(record.address())
          ? cache.removeAsync(key, bytes)
          : CompletableFuture.completedFuture(false);
    });
  }

  private Set<UUID> present() {
    Set<UUID> present = new HashSet<>();
    List<Address> view = manager.getMembers();
    if (view != null) {
      view.forEach(address -> present.add(address.getNodeUUID()));
    }
    present.removeAll(watch.dead());
    return present;
  }

  private static byte[] key(Member member) {
    return member.name().getBytes(StandardCharsets.UTF_8);
  }

  private @Nullable MemberRecord readable(byte[] key, byte[] bytes) {
    String name = new String(key, StandardCharsets.UTF_8);
    try {
      MemberRecord record = MemberRecord.read(bytes);
      unreadable.remove(name);
      return record;
    } catch (UncheckedIOException | IllegalArgumentException e) {
      if (unreadable.add(name)) {
        LOG.warn("member {} is not seen here, for its record cannot be read: {}", name, e.toString());
      }
      return null;
    }
  }
}
