package io.penstock.cluster.infinispan;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.testkit.Eventually;
import io.penstock.wire.cluster.SharedTable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/// A table of members on the loopback.
final class SharedTablesTest {
  private static byte[] value(long version, String text) {
    return ByteBuffer.allocate(SharedTable.VERSION_BYTES + text.length()).putLong(version).putLong(0).putLong(0)
        .put(text.getBytes(UTF_8)).array();
  }

  private static void eventually(Map<String, byte[]> values, String name, byte[] value) {
    Eventually.holds(name, () -> Arrays.equals(values.get(name), value));
  }

  @Test
  void members_haveWhatEachWrites_alsoOneThatJoinsLater_andThoseThatAreLeft() {
    int port = TestMember.freePort();
    TestMember a = TestMember.join("tables", "a", port);
    TestMember b = TestMember.join("tables", "b", TestMember.freePort(), port);
    SharedTable ofA = a.membership.table("t");
    SharedTable ofB = b.membership.table("t");
    Map<String, byte[]> heard = new ConcurrentHashMap<>();
    ofB.listen((name, value) -> {
      if (value == null) {
        heard.remove(name);
      } else {
        heard.put(name, value);
      }
    });

    ofA.put("of a", value(1, "one"));
    eventually(heard, "of a", value(1, "one"));
    ofB.put("of a", value(2, "two"));
    Eventually.holds("a has it", () -> Arrays.equals(ofA.values().get("of a"), value(2, "two")));
    ofB.put("of b", value(1, "one"));

    TestMember c = TestMember.join("tables", "c", TestMember.freePort(), port);
    SharedTable ofC = c.membership.table("t");
    for (String name : List.of("of a", "of b")) {
      Eventually.holds("c has " + name, () -> ofC.values().containsKey(name));
    }
    b.close();
    ofC.put("of a", value(3, "three"));
    Eventually.holds("a has the latest", () -> Arrays.equals(ofA.values().get("of a"), value(3, "three")));
    ofA.remove("of b", value(1, "one"));
    Eventually.holds("what b wrote is gone", () -> !ofC.values().containsKey("of b"));
    c.close();
    a.close();
  }
}
