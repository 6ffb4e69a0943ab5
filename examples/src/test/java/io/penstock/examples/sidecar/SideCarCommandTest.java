package io.penstock.examples.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.examples.ConsoleCapture;
import io.penstock.examples.Examples;
import io.penstock.examples.source.SeededBytes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(120)
final class SideCarCommandTest {
  private final ConsoleCapture capture = new ConsoleCapture();

  @Test
  void sidecar_movesEveryByteBetweenAProcessAndTheDeviceOfAnother() {
    assertThat(Examples.run(new String[] {"sidecar", "--blocks", "200", "--block-bytes", "64KiB"}, capture.console()))
        .as(capture.err()).isZero();

    assertThat(capture.err()).isEqualTo("""
        sidecar: starting a second process, which has a device
        sidecar: moving 200 blocks to the device and back, 12.5 MiB each way
        """);
    assertThat(capture.out()).matches("""
        sidecar: 200 blocks of 64 KiB, 0 wrong; .* GB/s to the device, .* GB/s back; 8 calls of copies
        owner of the device: .* blocks of its own meanwhile, 0 wrong
        """);
  }

  @Test
  void json_isAloneOnStandardOutput_andCountsWhatTheSideCarCopied() {
    assertThat(Examples.run(new String[] {"sidecar", "--blocks", "3", "--block-bytes", "1048584", "--json"},
        capture.console())).as(capture.err()).isZero();

    assertThat(capture.out().lines()).hasSize(1);
    JsonNode result = JsonMapper.shared().readTree(capture.out());
    assertThat(result.get("wrong").asInt()).isZero();
    assertThat(result.get("owner").get("bytes").asLong()).isEqualTo(2 * 3 * 1_048_584L);
    assertThat(result.get("owner").get("blocks").asLong()).isPositive();
  }

  @Test
  void wrong_countsBlocksWithOtherBytes() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(4 * 4096);
      SeededBytes.fill(9, 0, memory);
      assertThat(BlockMover.wrong(memory, 4096, 9)).isZero();
      memory.set(ValueLayout.JAVA_BYTE, 4096, (byte) (memory.get(ValueLayout.JAVA_BYTE, 4096) ^ 1));
      memory.set(ValueLayout.JAVA_BYTE, 16_383, (byte) (memory.get(ValueLayout.JAVA_BYTE, 16_383) ^ 1));
      assertThat(BlockMover.wrong(memory, 4096, 9)).isEqualTo(2);
    }
  }

  @Test
  void report_isGood_onlyIfTheSideCarCopiedAll() {
    SideCarReport.Owner owner = SideCarReport.Owner.of("2 32 5 0");
    assertThat(owner.line()).isEqualTo("2 32 5 0");
    assertThat(new SideCarReport(2, 8, 0, 1, 1, owner).isGood()).isTrue();
    assertThat(new SideCarReport(2, 8, 1, 1, 1, owner).isGood()).isFalse();
    assertThat(new SideCarReport(3, 8, 0, 1, 1, owner).isGood()).isFalse();
    assertThat(new SideCarReport(2, 8, 0, 1, 1, SideCarReport.Owner.of("2 32 5 1")).isGood()).isFalse();
  }
}
