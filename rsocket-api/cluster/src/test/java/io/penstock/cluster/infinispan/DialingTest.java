package io.penstock.cluster.infinispan;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jgroups.PhysicalAddress;
import org.jgroups.stack.IpAddress;
import org.junit.jupiter.api.Test;

final class DialingTest {
  private static final PhysicalAddress SILENT = new IpAddress(InetAddress.getLoopbackAddress(), 1);
  private static final PhysicalAddress OTHER = new IpAddress(InetAddress.getLoopbackAddress(), 2);

  private final Queue<Runnable> threads = new ArrayDeque<>();
  private final List<String> sent = new ArrayList<>();
  private boolean answers = true;
  private final Dialing dialing = new Dialing(this::record, threads::add);

  private void record(PhysicalAddress peer, byte[] data) throws IOException {
    if (!answers) {
      throw new IOException("connect timed out");
    }
    sent.add(peer.equals(SILENT) + " " + new String(data, StandardCharsets.US_ASCII));
  }

  private void send(PhysicalAddress peer, String text) {
    byte[] bytes = ("-" + text + "-").getBytes(StandardCharsets.US_ASCII);
    dialing.send(peer, bytes, 1, text.length());
    bytes[1] = '?'; // its memory is used again
  }

  @Test
  void whatComesWhileOneConnects_isSentInOrder_onAThreadForEachPeer() {
    send(SILENT, "a");
    send(SILENT, "b");
    send(OTHER, "c");
    assertThat(threads).as("one for each peer").hasSize(2);
    assertThat(sent).as("by the caller").isEmpty();
    assertThat(dialing.isWaiting(SILENT)).isTrue();
    threads.forEach(Runnable::run);
    assertThat(sent).containsExactly("true a", "true b", "false c");
    assertThat(dialing.isWaiting(SILENT)).isFalse();
  }

  @Test
  void withoutAConnection_whatWaitedIsLost_andTheNextOneTriesAgain() {
    answers = false;
    send(SILENT, "a");
    send(SILENT, "b");
    threads.remove().run();
    assertThat(dialing.isWaiting(SILENT)).isFalse();
    answers = true;
    send(SILENT, "c");
    threads.remove().run();
    assertThat(sent).containsExactly("true c");
  }

  @Test
  void onlySoManyWait() {
    for (int i = 0; i < 2 * Dialing.MOST_WAITING; i++) {
      send(SILENT, "" + i);
    }
    threads.remove().run();
    assertThat(sent).hasSize(Dialing.MOST_WAITING).startsWith("true 0").endsWith("true " + (Dialing.MOST_WAITING - 1));
    assertThat(threads).isEmpty();
  }
}
