package io.penstock.storage.engine;

import java.util.ArrayList;
import java.util.List;

final class MemoryEngineTest extends SegmentEngineContract {
  private final List<MemoryDisk> disks = new ArrayList<>(List.of(new MemoryDisk()));

  @Override
  public SegmentEngine open(EngineOptions options, FreeSpace space) {
    return MemoryEngine.open(disks.getLast(), options, space);
  }

  @Override
  public void crash() {
    disks.add(disks.getLast().copy());
  }

  @Override
  public void tear(Location newest, int bytes) {
    disks.getLast().tear(bytes);
  }
}
