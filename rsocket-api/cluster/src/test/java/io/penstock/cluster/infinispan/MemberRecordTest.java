package io.penstock.cluster.infinispan;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.wire.cluster.Member;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class MemberRecordTest {
  private static final MemberRecord RECORD = new MemberRecord(new UUID(1, 2), new Member("a", 7,
      List.of("127.0.0.1:7733"), "zone1", Member.State.DRAINING, new Member.Figures(1, 2, 3, 4)), 5, new long[] {6, 7});

  @Test
  void aRecord_isReadAsItWasWritten() {
    MemberRecord read = MemberRecord.read(RECORD.bytes());
    assertThat(read.member()).isEqualTo(RECORD.member());
    assertThat(read.rounds()).containsExactly(6, 7);
  }

  @Test
  void aRecord_ofAMemberThatDoesNotTellItsNextVictim_isRead() {
    byte[] bytes = RECORD.bytes();
    MemberRecord read = MemberRecord.read(Arrays.copyOf(bytes, bytes.length - Long.BYTES));
    assertThat(read.member()).isEqualTo(RECORD.member().withIdle(0));
    assertThat(read.rounds()).containsExactly(6, 7);
  }
}
