package io.penstock.cluster.shared;

import static java.util.Objects.requireNonNull;

import io.penstock.wire.cluster.SharedTable;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.infinispan.AdvancedCache;
import org.infinispan.commons.marshall.WrappedByteArray;
import org.infinispan.container.entries.InternalCacheEntry;
import org.infinispan.notifications.Listener;
import org.infinispan.notifications.cachelistener.annotation.CacheEntryCreated;
import org.infinispan.notifications.cachelistener.annotation.CacheEntryModified;
import org.infinispan.notifications.cachelistener.annotation.CacheEntryRemoved;
import org.infinispan.notifications.cachelistener.annotation.TopologyChanged;
import org.infinispan.notifications.cachelistener.event.CacheEntryEvent;
import org.infinispan.notifications.cachelistener.event.CacheEntryRemovedEvent;
import org.infinispan.notifications.cachelistener.event.TopologyChangedEvent;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/// The [SharedTable]s of one member, in a replicated cache whose keys begin with the name of a table.
///
/// A write compares and sets, so it never takes the place of a later value. The member also has a copy of the latest
/// values that it wrote or heard of. [#refresh] compares both: it hears of what a transfer between members brought
/// without an event, and writes again what a split, or a write that failed, has kept from the cache. [#look] does that
/// for some time after members came or went, or a write has failed, and now and then. Safe from any thread.
public final class ReplicatedTables {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicatedTables.class);
  private static final char END = '\0';
  /// Races with other writers that one write may lose before it waits for the next refresh.
  private static final int MOST_RACES = 16;

  private final AdvancedCache<byte[], byte[]> cache;
  private final Scheduler writer;
  /// Looks that compare all after a change, and one of so many without.
  private static final int LOOKS_AFTER_CHANGE = 10;
  private static final int SELDOM = 30;

  private final AtomicInteger looksDue = new AtomicInteger();
  private final AtomicInteger looks = new AtomicInteger();
  private final Map<String, byte[]> latest = new ConcurrentHashMap<>();
  private final Map<String, List<SharedTable.Listener>> listeners = new ConcurrentHashMap<>();

  /// @param cache replicated, of bytes
  /// @param writer one thread, on which writes begin
  public ReplicatedTables(AdvancedCache<byte[], byte[]> cache, Scheduler writer) {
    this.cache = requireNonNull(cache, "cache");
    this.writer = requireNonNull(writer, "writer");
    cache.addListener(new Entries(this));
    refresh();
  }

  /// The table of this name.
  public SharedTable table(String name) {
    if (name.isEmpty() || name.indexOf(END) >= 0) {
      throw new IllegalArgumentException("name must have a character, and no NUL (was " + name + ")");
    }
    return new Table(name + END);
  }

  /// To be called each second: refreshes if there may be reason.
  public void look() {
    boolean isDue = looksDue.getAndUpdate(due -> Math.max(0, due - 1)) > 0;
    if (looks.incrementAndGet() % SELDOM == 0 || isDue) {
      refresh();
    }
  }

  private void mayDiffer() {
    looksDue.set(LOOKS_AFTER_CHANGE);
  }

  /// Compares what the cache has with the latest values, and puts right what differs.
  public void refresh() {
    Map<String, byte[]> there = new HashMap<>();
    for (InternalCacheEntry<byte[], byte[]> entry : cache.getDataContainer()) {
      there.put(text(bytes(entry.getKey())), bytes(entry.getValue()));
    }
    there.forEach(this::changed);
    latest.forEach((key, value) -> {
      if (SharedTable.isLater(value, there.get(key))) {
        write(key, value);
      }
    });
  }

  private static byte[] bytes(Object stored) {
    return stored instanceof WrappedByteArray wrapped ? wrapped.getBytes() : (byte[]) stored;
  }

  private static String text(byte[] key) {
    return new String(key, StandardCharsets.UTF_8);
  }

  private static byte[] key(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private void changed(String key, byte[] value) {
    boolean[] isNews = new boolean[1];
    latest.compute(key, (name, known) -> {
      isNews[0] = SharedTable.isLater(value, known);
      return isNews[0] ? value : known;
    });
    if (isNews[0]) {
      tell(key, value);
    }
  }

  private void removed(String key, byte[] value) {
    byte[] left = latest.computeIfPresent(key, (name, known) -> SharedTable.isLater(known, value) ? known : null);
    if (left == null) {
      tell(key, null);
    }
  }

  private void tell(String key, byte @Nullable [] value) {
    int end = key.indexOf(END) + 1;
    listeners.getOrDefault(key.substring(0, end), List.of())
        .forEach(each -> each.changed(key.substring(end), value));
  }

  private void begin(Runnable work) {
    try {
      writer.schedule(work);
    } catch (RejectedExecutionException e) {
      LOG.debug("a table is not written: this member has left", e);
    }
  }

  private void write(String key, byte[] value) {
    attempt(key(key), value, 0).exceptionally(error -> {
      LOG.debug("{} is written at the next look", key, error);
      mayDiffer();
      return null;
    });
  }

  /// Compares and sets, until that succeeds or a value that is not earlier is there.
  private CompletableFuture<@Nullable Void> attempt(byte[] key, byte[] value, int races) {
    if (races == MOST_RACES) {
      mayDiffer();
    }
    if (races == MOST_RACES || !cache.getStatus().allowInvocations()) {
      return CompletableFuture.completedFuture(null);
    }
    return cache.getAsync(key).thenCompose(there -> {
      if (there != null && !SharedTable.isLater(value, there)) {
        return CompletableFuture.completedFuture(null);
      }
      CompletableFuture<Boolean> done = there == null
          ? cache.putIfAbsentAsync(key, value).thenApply(before -> before == null)
          : cache.replaceAsync(key, there, value);
      return done.thenCompose(isDone -> isDone
          ? CompletableFuture.completedFuture(null)
          : attempt(key, value, races + 1));
    });
  }

  private void remove(String key, byte[] value) {
    cache.getAsync(key(key)).thenCompose(there -> there == null || SharedTable.isLater(there, value)
        ? CompletableFuture.completedFuture(false)
        : cache.removeAsync(key(key), there)).exceptionally(error -> {
          LOG.debug("{} stays for now", key, error);
          return false;
        });
  }

  private final class Table implements SharedTable {
    private final String prefix;

    Table(String prefix) {
      this.prefix = prefix;
    }

    @Override
    public void put(String name, byte[] value) {
      byte[] own = SharedTable.versioned(value).clone();
      changed(prefix + name, own);
      begin(() -> write(prefix + name, own));
    }

    @Override
    public void remove(String name, byte[] value) {
      byte[] own = SharedTable.versioned(value).clone();
      removed(prefix + name, own);
      begin(() -> ReplicatedTables.this.remove(prefix + name, own));
    }

    @Override
    public Map<String, byte[]> values() {
      Map<String, byte[]> all = new HashMap<>();
      latest.forEach((key, value) -> {
        if (key.startsWith(prefix)) {
          all.put(key.substring(prefix.length()), value);
        }
      });
      return all;
    }

    @Override
    public Disposable listen(Listener listener) {
      List<Listener> all = listeners.computeIfAbsent(prefix, name -> new CopyOnWriteArrayList<>());
      all.add(listener);
      return () -> all.remove(listener);
    }
  }

  /// Listens to the cache. Infinispan calls listeners by reflection, so this is public.
  @Listener
  public static final class Entries {
    private final ReplicatedTables tables;

    Entries(ReplicatedTables tables) {
      this.tables = tables;
    }

    @CacheEntryCreated
    @CacheEntryModified
    public void changed(CacheEntryEvent<byte[], byte[]> event) {
      if (!event.isPre()) {
        tables.changed(text(event.getKey()), event.getValue());
      }
    }

    @TopologyChanged
    public void changed(TopologyChangedEvent<byte[], byte[]> event) {
      tables.mayDiffer();
    }

    @CacheEntryRemoved
    public void removed(CacheEntryRemovedEvent<byte[], byte[]> event) {
      byte[] value = event.getOldValue();
      if (!event.isPre() && value != null) {
        tables.removed(text(event.getKey()), value);
      }
    }
  }
}
