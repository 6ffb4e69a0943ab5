package io.penstock.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.node.setting.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ClusterSettingsTest {
  private static NodeConfig config(Map<Setting<?>, String> more) {
    Map<Setting<?>, String> flags = new HashMap<>(Map.of(ClusterSettings.CLUSTER, "kv"));
    flags.putAll(more);
    return NodeConfig.resolve(null, Map.of(), flags);
  }

  private static void assertRefused(Map<Setting<?>, String> flags, String message) {
    assertThatThrownBy(() -> config(flags)).isInstanceOf(ConfigException.class).hasMessage(message);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "cluster | two words", "cluster | -x", "cluster.seeds | a.test", "cluster.seeds | a.test:0",
    "cluster.seeds | unix:/tmp/x", "cluster.seeds | a.test:1,", "cluster.port | 65536", "cluster.node | two words",
    "cluster.place | zone1//host", "cluster.place | zone1/", "cluster.place | a/b/c/d/e/f/g/h/i"
  })
  void wrongValue_isRefusedByItsKey(String key, String text) {
    assertThatThrownBy(() -> config(Map.of(NodeSettings.byKey(key).orElseThrow(), text)))
        .isInstanceOf(ConfigException.class).hasMessageStartingWith(key + " must be ").hasMessageContaining("(was ");
  }

  @ParameterizedTest
  @CsvSource({"cluster.seeds, a.test:1", "cluster.port, 7801", "cluster.node, n1", "cluster.place, z",
    "cluster.secret.file, s", "cluster.host, ::1"})
  void settingOfNoCluster_isRefused_unlessItStatesItsDefault(String key, String text) {
    Setting<?> setting = NodeSettings.byKey(key).orElseThrow();

    assertRefused(Map.of(ClusterSettings.CLUSTER, "none", setting, text),
        "cluster must be a name for %s %s from %s (was none, from --cluster)".formatted(key, text, setting.flag()));
    assertThat(config(Map.of(ClusterSettings.CLUSTER, "none", setting, setting.initial())).get(ClusterSettings.CLUSTER))
        .isEmpty();
  }

  @Test
  void hostBeyondThisOne_takesASecretOrAnOpenNetwork() {
    assertRefused(Map.of(ClusterSettings.HOST, "10.0.0.1"),
        "cluster.host must be an address of this host alone, such as 127.0.0.1, for connections have no"
            + " cluster.secret.file; --open-to-network allows others (was 10.0.0.1, from --cluster-host)");
    assertThat(config(Map.of(ClusterSettings.HOST, "10.0.0.1", ClusterSettings.SECRET, "file"))
        .get(ClusterSettings.HOST)).isEqualTo("10.0.0.1");
    assertThat(config(Map.of(ClusterSettings.HOST, "10.0.0.1", NodeSettings.OPEN_TO_NETWORK, "true"))
        .get(ClusterSettings.SECRET)).isEmpty();
  }

  @Test
  void nodeThatProtectsItsConnections_takesASecret() {
    Map<Setting<?>, String> secured = Map.of(NodeSettings.LISTEN_HOST, "10.0.0.1", SecuritySettings.TLS_CERT, "c",
        SecuritySettings.TLS_KEY, "k", SecuritySettings.AUTH_USERS, "u");
    Map<Setting<?>, String> withSecret = new HashMap<>(secured);
    withSecret.put(ClusterSettings.SECRET, "file");
    Map<Setting<?>, String> here = new HashMap<>(secured);
    here.put(NodeSettings.LISTEN_HOST, "127.0.0.1");

    assertRefused(secured, "cluster.secret.file must be a file for listen.host 10.0.0.1 from --listen-host: a node that"
        + " protects its connections protects its cluster (was off, from default)");
    assertThat(config(withSecret).get(ClusterSettings.SECRET)).contains(Path.of("file"));
    assertThat(config(here).get(ClusterSettings.SECRET)).isEmpty();
  }

  @Test
  void everySetting_hasARowInTheManual() throws IOException {
    List<String> rows =
        Files.readAllLines(Path.of("docs", "settings.md")).stream().filter(line -> line.startsWith("| `")).toList();
    assertThat(ClusterSettings.ALL).allSatisfy(setting -> assertThat(rows).as(setting.key())
        .anySatisfy(row -> assertThat(row).contains("`" + setting.key() + "`")));
  }
}
