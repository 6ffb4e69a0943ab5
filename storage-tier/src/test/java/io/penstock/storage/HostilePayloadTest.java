package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.check.Checksum;
import io.penstock.storage.check.CheckProgress;
import io.penstock.storage.check.JournalCheck;
import io.penstock.testkit.Blocks;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A payload may hold what looks like the head of a record. The walk looks into payloads only behind damage, and what
/// it finds there neither hides records nor keeps the journal closed.
final class HostilePayloadTest extends OpeningFixture {
  private static final int HEAD_BYTES = 88;
  private static final CacheSpace OTHER = CacheSpace.of("other", JournalSample.SPACE.layout());

  /// What a payload pretends.
  enum Pretence {
    /// A record of a newer release.
    NEWER,
    /// A record of another cache space.
    FOREIGN,
    /// A record of another shape, which is as long as the rest of the file.
    LONG,
    /// The head of a record of the journal's own shape, an older one of the next block.
    OWN
  }

  private byte[] head(Pretence what, int length) throws IOException {
    if (what == Pretence.OWN) {
      byte[] head = new byte[HEAD];
      System.arraycopy(bytes(9), 0, head, 0, HEAD);
      return head;
    }
    BlockKey key = Blocks.key(what == Pretence.FOREIGN ? OTHER : JournalSample.SPACE, 3);
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    head.put("PNSTKREC".getBytes(StandardCharsets.US_ASCII)).putShort((short) (what == Pretence.NEWER ? 3 : 2))
        .putShort((short) 1).putInt(HEAD_BYTES).putLong(1_000);
    key.write(head.order(ByteOrder.BIG_ENDIAN));
    head.order(ByteOrder.LITTLE_ENDIAN).putInt(0).putInt(1).putInt(length).putInt(1).putInt(1).putInt(length).putInt(7);
    return head.putInt(Checksum.of(head.duplicate().flip())).array();
  }

  @ParameterizedTest
  @CsvSource({"PLAIN, NEWER", "CHRONICLE, NEWER", "PLAIN, FOREIGN", "CHRONICLE, FOREIGN", "PLAIN, LONG",
    "CHRONICLE, LONG", "PLAIN, OWN", "CHRONICLE, OWN"})
  void headInAPayload_behindADamagedHead_costsNothingElse(EngineKind engine, Pretence what) throws IOException {
    written(engine);
    int rest = (BLOCKS - 6) * records.getFirst().length();
    write(5, HEAD, head(what, rest));
    flip(5, 40);
    assertThat(JournalCheck.run(temporary, CheckProgress.none()).live()).isEqualTo(BLOCKS - 1);
    open();
    assertThat(JournalFixture.keys(store.recovered())).containsExactlyInAnyOrderElementsOf(without(5));
    assertThat(store.recovery().damaged()).isPositive();
  }
}
