package io.penstock.storage.rivals;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.GranuleRange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/// A log without any care for recovery: one file, a gathering write for each block behind a head of its length and its
/// checksums.
final class FileRival implements Rival {
  /// Of the file.
  static final String NAME = "log";

  private final FileChannel file;
  private final boolean mapped;
  private final SyncPoints syncs;
  private final GranuleRange all;
  private final int blockBytes;
  private final ByteBuffer head;
  private final List<Long> places = new ArrayList<>();
  private final List<int[]> checksums = new ArrayList<>();
  private final Arena arena = Arena.ofShared();
  private MemorySegment mapping = MemorySegment.NULL;
  private long end;

  FileRival(Path directory, Contest contest, boolean mapped) {
    this.mapped = mapped;
    this.all = GranuleRange.all(contest.space().layout());
    this.blockBytes = contest.blockBytes();
    this.head = ByteBuffer.allocateDirect(Integer.BYTES * (1 + contest.space().layout().granules()));
    try {
      Files.createDirectories(directory);
      file = FileChannel.open(directory.resolve(NAME), StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
          StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.syncs = new SyncPoints(contest.rule(), this::force);
  }

  private void force() {
    try {
      file.force(false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public boolean hasThreads() {
    return false;
  }

  @Override
  public Mono<Void> put(List<Block> batch) {
    return Mono.fromRunnable(() -> {
      batch.forEach(this::append);
      syncs.acknowledged();
    });
  }

  private void append(Block block) {
    block.verify("file");
    int[] sums = Sums.of(block);
    head.clear().putInt(blockBytes);
    for (int sum : sums) {
      head.putInt(sum);
    }
    head.flip();
    long length = (long) head.remaining() + blockBytes;
    syncs.admit(length);
    places.add(end + head.remaining());
    checksums.add(sums);
    block.read(payload -> write(new ByteBuffer[] {head, payload.asByteBuffer()}, length));
    end += length;
    syncs.appended(length);
  }

  private long write(ByteBuffer[] parts, long length) {
    try {
      for (long left = length; left > 0;) {
        left -= file.write(parts);
      }
      return length;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void written() {
    try {
      mapping = mapped ? file.map(FileChannel.MapMode.READ_ONLY, 0, end, arena) : mapping;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Mono<Void> read(int[] numbers, List<BlockDraft> drafts) {
    return Mono.fromRunnable(() -> {
      for (int i = 0; i < numbers.length; i++) {
        long from = places.get(numbers[i]);
        drafts.get(i).write(all, memory -> copy(from, memory));
        drafts.get(i).verify(all, checksums.get(numbers[i]), "file");
      }
    });
  }

  private void copy(long from, MemorySegment into) {
    if (mapped) {
      MemorySegment.copy(mapping, from, into, 0, blockBytes);
      return;
    }
    ByteBuffer buffer = into.asByteBuffer();
    try {
      while (buffer.hasRemaining()) {
        file.read(buffer, from + buffer.position());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    syncs.close();
    arena.close();
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
