package io.penstock.node.cluster;

import io.penstock.wire.cluster.SharedTable;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/// A table of members in this process, who see at once what each writes.
public final class MemoryTable implements SharedTable {
  private final Map<String, byte[]> values = new ConcurrentHashMap<>();
  private final List<Listener> listeners = new CopyOnWriteArrayList<>();

  @Override
  public void put(String name, byte[] value) {
    AtomicBoolean isNews = new AtomicBoolean();
    values.compute(name, (same, there) -> {
      isNews.set(SharedTable.isLater(SharedTable.versioned(value), there));
      return isNews.get() ? value : there;
    });
    tell(isNews.get(), name, value);
  }

  @Override
  public void remove(String name, byte[] value) {
    AtomicBoolean isGone = new AtomicBoolean();
    values.computeIfPresent(name, (same, there) -> {
      isGone.set(!SharedTable.isLater(there, value));
      return isGone.get() ? null : there;
    });
    tell(isGone.get(), name, null);
  }

  private void tell(boolean isChange, String name, byte @Nullable [] value) {
    if (isChange) {
      listeners.forEach(each -> each.changed(name, value));
    }
  }

  @Override
  public Map<String, byte[]> values() {
    return Map.copyOf(values);
  }

  @Override
  public Disposable listen(Listener listener) {
    listeners.add(listener);
    return () -> listeners.remove(listener);
  }
}
