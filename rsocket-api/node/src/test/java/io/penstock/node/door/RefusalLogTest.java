package io.penstock.node.door;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

final class RefusalLogTest {
  private final AtomicLong nanos = new AtomicLong(-5);
  private final RefusalLog refusals = new RefusalLog("some", nanos::get);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void listen() {
    log.start();
    ((Logger) LoggerFactory.getLogger(RefusalLog.class)).addAppender(log);
  }

  @AfterEach
  void leave() {
    ((Logger) LoggerFactory.getLogger(RefusalLog.class)).detachAppender(log);
  }

  private List<String> said() {
    return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void refusals_haveALineASecond_andTheNextOneCountsTheOthers() {
    for (int i = 0; i < 1_000; i++) {
      refusals.add("key must be short (was long)", "alice", new InetSocketAddress("127.0.0.1", 7));
    }
    String first =
        "a request at the door some was refused: key must be short (was long); user alice, from 127.0.0.1:7";
    assertThat(said()).containsExactly(first);

    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    refusals.add("key must be short (was long)", "alice", new InetSocketAddress("127.0.0.1", 7));
    assertThat(said()).containsExactly(first, first + " (999 more since the line before)");
  }

  @Test
  void valuesThatAreLetGo_shareTheLineOfASecond() {
    refusals.letGo("a value must be short (was long)", "", null);
    refusals.add("key must be short (was long)", "alice", null);
    assertThat(said()).containsExactly("a value at the door some was let go: a value must be short (was long); user"
        + " unknown, from a socket of this host");
  }

  @Test
  void textOfClients_doesNoHarm_andTheirNameIsUnknown() {
    refusals.add("name must be short (was \u001b[2J\n" + "x".repeat(5_000), "", null);
    assertThat(said()).singleElement().asString()
        .contains("\\x1b[2J\\x0a", "; user unknown, from a socket of this host")
        .hasSizeLessThan(400);
  }
}
