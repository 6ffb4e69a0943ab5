package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.BlockName;
import org.infinispan.distribution.ch.KeyPartitioner;

/// Puts each name into the segment that [BlockName#segment] says, so that members know the segment of a block without
/// asking the cache.
public record NamePartitioner() implements KeyPartitioner {
  @Override
  public int getSegment(Object key) {
    return BlockName.of(Bytes.of(key)).segment();
  }
}
