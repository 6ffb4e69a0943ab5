package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockScope;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

@Timeout(30)
final class OffloadMemoryTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final BlockScope scope = new BlockScope();
  private final MemoryFigures figures = new MemoryFigures();
  private final List<String> freed = new ArrayList<>();

  /// Gives memory so many bytes beyond an aligned address, or none.
  private HostMemorySource source(String name, int offset) {
    return new HostMemorySource() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public Mono<HostMemory> allocate(long bytes, BlockScope owner) {
        if (offset < 0) {
          return Mono
              .error(new HostMemoryRefusedException(name, bytes, List.of(new Fallback(name + " pages", "none"))));
        }
        long address = Arena.global().allocate(bytes + 8192, 4096).address() + offset;
        return Mono.fromCallable(() -> owner
            .adopt(HostMemory.at(address, bytes, MemoryKind.of(PageKind.HOST), List.of(), () -> freed.add(name))));
      }
    };
  }

  private HostMemory allocate(long bytes, HostMemorySource... sources) {
    return requireNonNull(new OffloadMemory(List.of(sources), figures).allocate(bytes, scope).block(LIMIT));
  }

  @ParameterizedTest
  @CsvSource({"1, 4096", "4096, 4096", "4097, 8192", "1048576, 1048576"})
  void sizes_areWholeSectors(long bytes, long rounded) {
    assertThat(allocate(bytes, source("driver", 0)).bytes()).isEqualTo(rounded).isEqualTo(OffloadMemory.rounded(bytes));
  }

  @Test
  void firstSourceThatHasIt_gives_andGetsBack() {
    HostMemory memory = allocate(100, source("driver", -1), source("huge", 0), source("plain", 0));
    assertThat(figures.fallbacksByWish()).containsOnlyKeys("driver pages");
    memory.close();
    assertThat(freed).containsExactly("huge");
  }

  @Test
  void memoryThatIsNotAligned_goesBackWhereItCameFrom() {
    HostMemory memory = allocate(100, source("driver", 512), source("plain", 0));
    assertThat(freed).containsExactly("driver");
    assertThat(memory.address() % OffloadMemory.ALIGNMENT_BYTES).isZero();
    scope.close();
    assertThat(freed).containsExactly("driver", "plain");
  }

  @Test
  void noSource_saysWhatEachLacks() {
    assertThatThrownBy(() -> allocate(100, source("driver", -1), source("plain", 64)))
        .isInstanceOfSatisfying(HostMemoryRefusedException.class, e -> assertThat(e.tried()).hasSize(2))
        .hasMessageContaining("is not a multiple of 4096");
    assertThat(freed).containsExactly("plain");
    assertThatThrownBy(() -> new OffloadMemory(List.of(), figures)).hasMessage("sources must be some (was none)");
  }

  @Test
  void mappedMemory_isAligned() {
    HostMemory memory = allocate(100_000, new MappedMemory(MappedOptions.defaults(), figures));
    assertThat(memory.bytes()).isEqualTo(102_400);
    memory.segment().fill((byte) 1);
  }
}
