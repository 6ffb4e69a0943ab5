package io.penstock.wire.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.system.NativeFile;
import io.penstock.system.NativeMemory;
import io.penstock.wire.protocol.WireFormatException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(240)
final class ClientRegionTest {
  private static final Path MEMORY = Path.of("/dev/shm");
  private static final int STRIDE = 1 << 20;
  private static final int PIECE = 64 << 10;
  private static final BooleanSupplier NEVER = () -> false;

  private Path path;
  private NativeFile file;

  @BeforeEach
  void makeFile() throws IOException {
    assumeTrue(NativeMemory.absence().isEmpty() && Files.isWritable(MEMORY));
    path = Files.createTempFile(MEMORY, "penstock-test", ".mmap");
    file = NativeFile.open(path);
    file.resize(4L * STRIDE);
  }

  @AfterEach
  void removeFile() throws IOException {
    if (file != null) {
      file.close();
      Files.delete(path);
    }
  }

  private ClientRegion map() {
    return ClientRegion.map(MEMORY,
        new RegionMessages.RegionRequest(new byte[16], path.toString(), 4L * STRIDE, STRIDE, null, null));
  }

  @Test
  void anotherFileOfTheName_isRefused() throws IOException {
    Long device = (Long) Files.getAttribute(path, "unix:dev");
    Long inode = (Long) Files.getAttribute(path, "unix:ino");
    ClientRegion.map(MEMORY, request(device, inode)).release();
    ClientRegion.map(MEMORY, request(null, null)).release();
    file.close();
    Path other = Files.createTempFile(MEMORY, "penstock-test", ".mmap");
    file = NativeFile.open(other);
    file.resize(4L * STRIDE);
    Files.move(other, path, StandardCopyOption.REPLACE_EXISTING); // as an engine that starts again
    for (RegionMessages.RegionRequest each : List.of(request(device, inode), request(null, inode),
        request(device + 1, null))) {
      assertThatThrownBy(() -> ClientRegion.map(MEMORY, each)).isInstanceOf(WireFormatException.class)
          .hasMessageContaining("path must be that of the file which the client has");
    }
    ClientRegion.map(MEMORY, request(device, (Long) Files.getAttribute(path, "unix:ino"))).release();
  }

  private RegionMessages.RegionRequest request(@Nullable Long device, @Nullable Long inode) {
    return new RegionMessages.RegionRequest(new byte[16], path.toString(), 4L * STRIDE, STRIDE, device, inode);
  }

  /// Says no, and cuts the file short before piece `number`, behind the look at its length.
  private BooleanSupplier cuttingBefore(int number) {
    AtomicInteger pieces = new AtomicInteger();
    return () -> {
      if (pieces.getAndIncrement() == number) {
        try {
          file.resize(0);
        } catch (IOException e) {
          throw new IllegalStateException(e);
        }
      }
      return false;
    };
  }

  @Test
  void bytes_goThereAndBack_inPieces() {
    ClientRegion region = map();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(STRIDE - 4000);
      for (int i = 0; i < bytes.byteSize(); i++) {
        bytes.set(ValueLayout.JAVA_BYTE, i, (byte) ((i * 31) >> 5));
      }
      region.write(bytes, 2, PIECE, NEVER);
      MemorySegment back = arena.allocate(bytes.byteSize());
      region.read(2, back, PIECE, NEVER);
      assertThat(back.mismatch(bytes)).isEqualTo(-1);
      region.read(3, back, PIECE, NEVER);
      assertThat(back.mismatch(arena.allocate(bytes.byteSize()))).as("another slot").isEqualTo(-1);
    } finally {
      region.release();
    }
  }

  /// The system sends a signal that ends any process that is not prepared for it.
  @Test
  void pageThatGoesDuringACopy_isARefusal() throws IOException {
    for (int piece : new int[] {0, 1, 7}) {
      for (boolean isRead : new boolean[] {true, false}) {
        ClientRegion region = map();
        try (Arena arena = Arena.ofConfined()) {
          MemorySegment bytes = arena.allocate(STRIDE);
          assertThatThrownBy(() -> {
            if (isRead) {
              region.read(1, bytes, PIECE, cuttingBefore(piece));
            } else {
              region.write(bytes, 1, PIECE, cuttingBefore(piece));
            }
          }).isInstanceOf(WireFormatException.class).hasMessageStartingWith("region must be as long as it was mapped");
          assertThat(file.bytes()).as("a write makes the file no longer").isZero();
          assertThatThrownBy(() -> region.read(1, bytes, PIECE, NEVER)).isInstanceOf(WireFormatException.class);
        } finally {
          region.release();
        }
        file.resize(4L * STRIDE);
      }
    }
  }

  @Test
  void stoppedCopy_ends() {
    ClientRegion region = map();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment ones = arena.allocate(STRIDE).fill((byte) 1);
      AtomicInteger pieces = new AtomicInteger();
      region.write(ones, 0, PIECE, () -> pieces.getAndIncrement() == 2);
      MemorySegment back = arena.allocate(STRIDE);
      region.read(0, back, PIECE, NEVER);
      assertThat(back.mismatch(ones)).isEqualTo(PIECE); // two pieces of half of that
    } finally {
      region.release();
    }
  }

  @Test
  void fileIsLocked_untilTheLastHoldEnds() throws IOException {
    ClientRegion region = map();
    assertThat(region.retain()).isTrue();
    assertThat(file.tryLock()).isFalse();
    region.release();
    assertThat(file.tryLock()).isFalse();
    region.release();
    assertThat(region.retain()).isFalse();
    assertThat(file.tryLock()).isTrue();
  }
}
