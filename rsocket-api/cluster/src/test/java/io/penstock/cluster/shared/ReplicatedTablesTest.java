package io.penstock.cluster.shared;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.testkit.Eventually;
import io.penstock.wire.cluster.SharedTable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.infinispan.AdvancedCache;
import org.infinispan.commons.dataconversion.MediaType;
import org.infinispan.configuration.cache.ConfigurationBuilder;
import org.infinispan.configuration.global.GlobalConfigurationBuilder;
import org.infinispan.manager.DefaultCacheManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/// Tables over a cache of one member, which the test changes as other members and transfers do.
final class ReplicatedTablesTest {
  private final DefaultCacheManager manager = new DefaultCacheManager(global().build(), true);
  private final AdvancedCache<byte[], byte[]> cache = cache();
  private final ReplicatedTables tables = new ReplicatedTables(cache, Schedulers.immediate());
  private final SharedTable table = tables.table("t");
  private final List<String> changes = new ArrayList<>();

  private static GlobalConfigurationBuilder global() {
    GlobalConfigurationBuilder global = new GlobalConfigurationBuilder().nonClusteredDefault();
    global.jmx().disable();
    global.metrics().gauges(false);
    return global;
  }

  private AdvancedCache<byte[], byte[]> cache() {
    ConfigurationBuilder plain = new ConfigurationBuilder();
    plain.encoding().mediaType(MediaType.APPLICATION_OCTET_STREAM_TYPE);
    manager.defineConfiguration("shared", plain.build());
    return manager.<byte[], byte[]>getCache("shared").getAdvancedCache();
  }

  @AfterEach
  void stop() {
    manager.stop();
  }

  private static byte[] value(long version, String text) {
    return ByteBuffer.allocate(SharedTable.VERSION_BYTES + text.length()).putLong(version).putLong(0).putLong(0)
        .put(text.getBytes(UTF_8)).array();
  }

  private static byte[] key(String name) {
    return ("t\0" + name).getBytes(UTF_8);
  }

  private void listen() {
    table.listen((name, value) -> {
      synchronized (changes) {
        changes.add(value == null ? name : name + " " + new String(value, UTF_8).substring(SharedTable.VERSION_BYTES));
      }
    });
  }

  private void eventually(byte[] inCache, String name) {
    Eventually.holds(name + " is in the cache", () -> Arrays.equals(cache.get(key(name)), inCache));
  }

  @Test
  void theLaterValue_stays_inAnyOrderOfWrites() {
    listen();
    table.put("n", value(2, "two"));
    table.put("n", value(1, "one"));
    eventually(value(2, "two"), "n");
    cache.put(key("n"), value(3, "three"));
    table.put("n", value(2, "late"));
    tables.refresh();
    eventually(value(3, "three"), "n");
    assertThat(changes).containsExactly("n two", "n three");
    assertThat(table.values()).containsOnlyKeys("n");
    assertThat(table.values().get("n")).isEqualTo(value(3, "three"));
  }

  @Test
  void bytesWithoutAVersion_areAsNoValue() {
    listen();
    cache.put(key("n"), new byte[3]);
    cache.put(key("m"), new byte[SharedTable.VERSION_BYTES - 1]);
    ReplicatedTables late = new ReplicatedTables(cache, Schedulers.immediate());
    assertThat(late.table("t").values()).isEmpty();
    table.put("n", value(1, "one"));
    eventually(value(1, "one"), "n");
    cache.put(key("n"), new byte[0]);
    tables.refresh();
    eventually(value(1, "one"), "n");
    assertThat(changes).containsExactly("n one");
  }

  @Test
  void anEarlierValueThatASplitLeft_isPutRight() {
    table.put("n", value(2, "two"));
    eventually(value(2, "two"), "n");
    table.put("m", value(1, "one"));
    eventually(value(1, "one"), "m");
    cache.put(key("n"), value(1, "of the other side"));
    tables.refresh();
    eventually(value(2, "two"), "n");
    assertThat(table.values().get("n")).isEqualTo(value(2, "two"));
  }

  @Test
  void aValueThatIsRemoved_isGone_unlessALaterOneIsThere() {
    listen();
    table.put("n", value(2, "two"));
    eventually(value(2, "two"), "n");
    table.remove("n", value(1, "one"));
    tables.refresh();
    assertThat(table.values()).containsOnlyKeys("n");
    table.remove("n", value(2, "two"));
    eventually(null, "n");
    Eventually.holds("it is gone", () -> table.values().isEmpty());
    cache.put(key("o"), value(1, "other's"));
    cache.remove(key("o"));
    Eventually.holds("it is gone, too", () -> table.values().isEmpty());
    assertThat(changes).startsWith("n two").contains("n", "o other's", "o");
  }

  @Test
  void tables_areApart_andHaveNames() {
    listen();
    tables.table("other").put("n", value(1, "one"));
    assertThat(table.values()).isEmpty();
    assertThat(changes).isEmpty();
    assertThatThrownBy(() -> tables.table("")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> table.put("n", new byte[8])).isInstanceOf(IllegalArgumentException.class);
  }
}
