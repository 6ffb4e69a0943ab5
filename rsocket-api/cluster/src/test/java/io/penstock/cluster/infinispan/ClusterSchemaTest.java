package io.penstock.cluster.infinispan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.infinispan.protostream.ProtobufUtil;
import org.infinispan.protostream.SerializationContext;
import org.junit.jupiter.api.Test;

/// Bytes of what members send each other about blocks, which releases side by side must read of each other.
final class ClusterSchemaTest {
  private static final String ANNOUNCE = "09" + "0700000000000000" + "10" + "02" + "19" + "0500000000000000" + "19"
      + "0600000000000000";
  private static final String FORGET = "09" + "0700000000000000" + "09" + "0800000000000000";
  /// A text and a number in fields that this release does not know.
  private static final String LATER = "4a" + "03677075" + "50" + "05";

  private static SerializationContext context() {
    SerializationContext context = ProtobufUtil.newSerializationContext();
    ClusterSchema schema = new ClusterSchema();
    schema.registerSchema(context);
    schema.registerMarshallers(context);
    return context;
  }

  private static <T> T read(String hex, Class<T> type) throws Exception {
    return ProtobufUtil.fromByteArray(context(), HexFormat.of().parseHex(hex), type);
  }

  @Test
  void announce_hasTheBytesOfTheFirstRelease_andSkipsFieldsOfLaterOnes() throws Exception {
    byte[] bytes = ProtobufUtil.toByteArray(context(), new Announce(7, 2, new long[] {5, 6}));
    assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(ANNOUNCE);

    for (String form : new String[] {ANNOUNCE, LATER + ANNOUNCE, ANNOUNCE + LATER}) {
      Announce read = read(form, Announce.class);
      assertThat(read.round()).isEqualTo(7);
      assertThat(read.level()).isEqualTo(2);
      assertThat(read.former()).containsExactly(5, 6);
    }
  }

  @Test
  void forget_hasTheBytesOfTheFirstRelease_andSkipsFieldsOfLaterOnes() throws Exception {
    byte[] bytes = ProtobufUtil.toByteArray(context(), new Forget(new long[] {7, 8}));
    assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(FORGET);

    for (String form : new String[] {FORGET, LATER + FORGET, FORGET + LATER}) {
      assertThat(read(form, Forget.class).rounds()).containsExactly(7, 8);
    }
  }
}
