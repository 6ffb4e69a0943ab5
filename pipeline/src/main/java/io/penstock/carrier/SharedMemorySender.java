package io.penstock.carrier;

import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.system.SharedRegion;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Sends references to blocks that lie in memory which other processes of this host can map. Other blocks go in the
/// frames. One sender serves one connection, on which it names a bounded number of regions.
public final class SharedMemorySender implements SliceSender {
  /// The regions whose names the peer has.
  private final Set<SharedRegion> named = ConcurrentHashMap.newKeySet();

  @Override
  public void offer(LayerSlice slice, OutgoingFrame frame) {
    byte[] references = references(slice.spans());
    if (references == null) {
      InlineCarrier.INSTANCE.offer(slice, frame);
    } else {
      frame.refer(references);
    }
  }

  /// A reference to the bytes of `run`; null if they lie in other memory, or in one region too many.
  public byte @Nullable [] reference(MemorySegment run) {
    List<SharedRegion> regions = new ArrayList<>(1);
    return indexOf(regions, run.address()) < 0 || !regions.getFirst().contains(run.address() + run.byteSize() - 1)
        ? null
        : SliceReferences.encode(regions, new int[1], new long[] {regions.getFirst().offset(run.address())});
  }

  /// Null if a span lies in other memory, or all of them in too many regions.
  private byte @Nullable [] references(List<LayerSpan> spans) {
    List<SharedRegion> regions = new ArrayList<>(1);
    int[] region = new int[spans.size()];
    long[] offset = new long[spans.size()];
    for (int i = 0; i < region.length; i++) {
      long address = spans.get(i).memory().address();
      region[i] = indexOf(regions, address);
      if (region[i] < 0) {
        return null;
      }
      offset[i] = regions.get(region[i]).offset(address);
    }
    return SliceReferences.encode(regions, region, offset);
  }

  /// Index of the region with `address`, which is added if it is new; negative if there is none, or no room for it.
  private int indexOf(List<SharedRegion> regions, long address) {
    for (int i = 0; i < regions.size(); i++) {
      if (regions.get(i).contains(address)) {
        return i;
      }
    }
    SharedRegion found = SharedRegion.at(address);
    if (found == null || !isNamed(found)) {
      return -1;
    }
    regions.add(found);
    return regions.size() - 1;
  }

  private boolean isNamed(SharedRegion region) {
    if (named.contains(region)) {
      return true;
    }
    synchronized (named) {
      return named.size() < SliceReferences.MOST_REGIONS && named.add(region);
    }
  }
}
