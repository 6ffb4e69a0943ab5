package io.penstock.storage.rivals;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.ChronicleEngine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/// The engine alone.
final class EngineRival implements Rival {
  private final SegmentEngine engine;
  private final SyncPoints syncs;
  private final GranuleRange all;
  private final List<Location> places = new ArrayList<>();
  private final List<int[]> checksums = new ArrayList<>();

  EngineRival(Path directory, Contest contest) {
    this.engine = ChronicleEngine.open(directory, EngineOptions.defaults());
    this.syncs = new SyncPoints(contest.rule(), engine::sync);
    this.all = GranuleRange.all(contest.space().layout());
  }

  @Override
  public boolean hasThreads() {
    return false;
  }

  @Override
  public Mono<Void> put(List<Block> batch) {
    return Mono.fromRunnable(() -> {
      for (Block block : batch) {
        block.verify("engine");
        syncs.admit(block.layout().blockBytes());
        places.add(block.read(payload -> engine.append(payload)));
        checksums.add(Sums.of(block));
        syncs.appended(block.layout().blockBytes());
      }
      syncs.acknowledged();
    });
  }

  @Override
  public void written() {
    // nothing is kept anywhere else
  }

  @Override
  public Mono<Void> read(int[] numbers, List<BlockDraft> drafts) {
    return Mono.fromRunnable(() -> {
      for (int i = 0; i < numbers.length; i++) {
        Location from = places.get(numbers[i]);
        drafts.get(i).write(all, memory -> engine.read(from, 0, memory));
        drafts.get(i).verify(all, checksums.get(numbers[i]), "engine");
      }
    });
  }

  @Override
  public void close() {
    syncs.close();
    engine.close();
  }
}
