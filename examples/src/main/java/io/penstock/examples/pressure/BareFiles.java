package io.penstock.examples.pressure;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.check.Checksum;
import io.penstock.examples.source.SeededBytes;
import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.disk.SyncRule;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/// The baseline: equal blocks, made and summed as for a tier, written one after the other to files of the size of a
/// segment. No block can be found or read again. Unsynced bytes are bounded as in a journal: a thread of its own forces
/// each half while writing goes on.
final class BareFiles {
  private final PressureOptions options;
  private final SyncRule rule;
  private final List<Path> files = new ArrayList<>();
  private @Nullable FileChannel file;
  private long inFile;
  private long unsynced;
  private @Nullable Future<?> syncing;

  private BareFiles(PressureOptions options) {
    this.options = options;
    this.rule = options.syncs();
  }

  /// Writes the blocks of `keys`, and removes the files again.
  ///
  /// @return seconds until the last block was written, and as safe as the rule says
  static double write(PressureOptions options, List<BlockKey> keys) throws IOException {
    BareFiles files = new BareFiles(options);
    try (ExecutorService syncs = Executors.newSingleThreadExecutor(); Arena arena = Arena.ofConfined()) {
      MemorySegment block = arena.allocate(options.blockBytes(), 64);
      long start = System.nanoTime();
      for (BlockKey key : keys) {
        files.write(key, block, syncs);
      }
      files.awaitSync();
      return (System.nanoTime() - start) / 1e9;
    } finally {
      files.delete();
    }
  }

  private void write(BlockKey key, MemorySegment block, ExecutorService syncs) throws IOException {
    SeededBytes.fill(key.hash().low(), 0, block);
    sum(options.space().layout(), block);
    FileChannel target = target();
    for (ByteBuffer bytes = block.asByteBuffer(); bytes.hasRemaining();) {
      inFile += target.write(bytes);
    }
    unsynced += block.byteSize();
    if (rule.mode() == SyncMode.ALWAYS) {
      target.force(false);
    } else if (rule.mode() == SyncMode.INTERVAL && unsynced >= rule.bytes() / 2) {
      awaitSync();
      unsynced = 0;
      syncing = syncs.submit(() -> {
        target.force(false);
        return null;
      });
    }
  }

  private static void sum(BlockLayout layout, MemorySegment block) {
    long at = 0;
    for (int granule = 0; granule < layout.granules(); granule++) {
      int bytes = layout.planeBytes(granule % layout.planes().size());
      Checksum.of(block.asSlice(at, bytes));
      at += bytes;
    }
  }

  private FileChannel target() throws IOException {
    if (file == null || inFile + options.blockBytes() > options.segmentBytes()) {
      close();
      Path path = Files.createDirectories(options.disk().directory()).resolve("bare-" + files.size());
      files.add(path);
      file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      inFile = 0;
    }
    return requireNonNull(file);
  }

  private void awaitSync() throws IOException {
    try {
      if (syncing != null) {
        syncing.get();
      }
    } catch (ExecutionException e) {
      throw new IOException("could not force a file", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a file was forced", e);
    }
  }

  private void close() throws IOException {
    FileChannel last = file;
    if (last != null) {
      awaitSync();
      if (rule.mode() != SyncMode.NONE) {
        last.force(false);
      }
      last.close();
    }
  }

  private void delete() throws IOException {
    close();
    for (Path each : files) {
      Files.deleteIfExists(each);
    }
  }
}
