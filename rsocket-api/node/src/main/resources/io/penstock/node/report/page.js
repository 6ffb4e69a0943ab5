(() => {
  'use strict';
  const run = JSON.parse(document.getElementById('run').textContent);
  const series = run.series || run;
  const seconds = series.seconds;
  const points = run.points || 'seconds';
  const blockBytes = run.blockBytes || (run.report && run.report.model ? run.report.model.blockBytes : 0);
  const at = value => points === 'blocks' ? blocks(value) : points === 'turns' ? 'turn ' + whole.format(value) : plain.format(value) + ' s';
  const counted = points !== 'seconds';
  const charts = [];
  const root = document.documentElement;
  const systemDark = matchMedia('(prefers-color-scheme: dark)');
  const button = document.getElementById('theme');
  const TIERS = {hbm: 'blue', dram: 'orange', ssd: 'green', shared: 'purple', computed: 'grey'};
  const PATTERNS = {orange: 1, green: 2, grey: 3};
  const COLOURS = ['blue', 'orange', 'green', 'purple', 'grey', 'pink', 'violet', 'olive', 'brown', 'ink', 'deep'];
  const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
  // Lines differ by their marks too, for those who do not tell the colours apart.
  const POINTS = ['circle', 'triangle', 'rect', 'rectRot', 'cross', 'star', 'crossRot', 'triangle open', 'circle open', 'rect open', 'rectRot open'];

  // Numbers, always as in English: a report reads alike on every machine.
  const plain = new Intl.NumberFormat('en', {maximumSignificantDigits: 4});
  const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
  const number = value => Math.abs(value) >= 1000 ? whole.format(value) : plain.format(value);
  const time = micros => micros < 1e3 ? plain.format(micros) + ' µs' : micros < 1e6 ? plain.format(micros / 1e3) + ' ms' : plain.format(micros / 1e6) + ' s';

  // Bytes of the model, always in GiB, so that capacities compare.
  const blockBytesByTier = (run.report && run.report.model && run.report.model.blockBytesByTier) || {};
  const gib = (blocks, tier) => { const size = blocks * (blockBytesByTier[tier] || blockBytes) / 2 ** 30; return (size >= 100 ? whole : plain).format(size) + ' GiB'; };
  const blocks = (value, tier) => whole.format(value) + ' blocks' + (blockBytes ? ' = ' + gib(value, tier) : '');

  const names = tiers => Object.keys(tiers);
  const tierColour = (name, i) => TIERS[name] || COLOURS[i % 4];
  const width = i => Math.max(1e-6, seconds[i] - (i > 0 ? seconds[i - 1] : 0));
  const perSecond = values => values.map((value, i) => value / width(i));
  const runningSum = values => { let sum = 0; return Object.assign(values.map(value => sum += value), {first: 0}); };
  const level = value => seconds.map(() => value);

  function answered(of) {
    const tiers = names(series.hitsByTier).map((name, i) => ({label: 'hits in ' + name, values: of(series.hitsByTier[name]), colour: tierColour(name, i), pattern: i % 3, area: true}));
    return tiers.concat({label: 'misses', values: of(series.misses), colour: 'grey', pattern: 3, area: true});
  }

  /// Share of the references so far that hit, which ends at the hit rate of the run.
  function share() {
    const hits = runningSum(seconds.map((second, i) => names(series.hitsByTier).reduce((sum, name) => sum + series.hitsByTier[name][i], 0)));
    const misses = runningSum(series.misses);
    return [{label: 'hits', colour: 'blue', shade: true, values: hits.map((count, i) => count + misses[i] ? 100 * count / (count + misses[i]) : null)},
      {label: 'ceiling: a cache without a bound', colour: 'purple', dash: DASHES[1], still: true, values: level(100 * run.report.reuse.ceiling.hitRate)}];
  }

  function fill() {
    const tiers = names(series.blocksByTier);
    const bounded = tiers.every(name => series.capacityBlocksByTier[name] != null);
    const lines = tiers.map((name, i) => {
      const capacity = series.capacityBlocksByTier[name];
      return {label: name + (capacity == null ? ' (unbounded)' : ' of ' + blocks(capacity, name)), colour: tierColour(name, i), dash: DASHES[i % 4],
        values: series.blocksByTier[name].map(blocks => bounded ? 100 * blocks / Math.max(1, capacity) : blocks)};
    });
    return bounded ? {lines, axis: '% of capacity', format: value => plain.format(value) + ' %', top: 100, tick: plain.format} : {lines, axis: 'blocks', format: value => names(blockBytesByTier).length ? whole.format(value) + ' blocks' : blocks(value), tick: number};
  }

  const MIB = 1 << 20;
  const mib = value => plain.format(value) + ' MiB';
  const replay = () => [
    {id: 'hits', title: 'Hits by tier', about: 'Block references as the node answered them: from which tier, or not at all. Stacked; a click on a name below hides it.', stacked: true,
      views: [{name: 'per second', axis: 'references per second', lines: answered(perSecond), format: number},
        {name: 'cumulative', axis: 'references so far', lines: answered(runningSum), format: number},
        {name: 'hit rate', flat: true, axis: '% of references so far', lines: share(), format: value => plain.format(value) + ' %', tick: plain.format}]},
    {id: 'in-flight', title: 'Bytes in flight', about: 'The most that a sample saw in each interval, over all parties, against the budget that it must not pass.',
      views: [{axis: 'MiB', format: mib, tick: plain.format, top: 1.05 * series.budgetBytes / MIB, lines: [
        {label: 'in flight', values: series.inFlightBytes.map(bytes => bytes / MIB), colour: 'blue', dash: DASHES[0], shade: true},
        {label: 'peak of the run', values: level(run.report.peakInFlightBytes / MIB), colour: 'orange', dash: DASHES[2], still: true},
        {label: 'budget', values: level(series.budgetBytes / MIB), colour: 'purple', dash: DASHES[1], still: true}]}]},
    {id: 'rate', title: 'Delivered and verified', about: 'Payload bytes of the requests that ended in each interval, in 10⁹ bytes a second.',
      views: [{axis: 'GB/s', format: value => plain.format(value) + ' GB/s', tick: plain.format, lines: [
        {label: 'delivered', values: perSecond(series.bytesDelivered.map(bytes => bytes / 1e9)), colour: 'green', dash: DASHES[0], shade: true},
        {label: 'mean of the run', values: level(run.report.gigabytesPerSecond), colour: 'purple', dash: DASHES[1], still: true},
        {label: 'steady rate', values: level(run.report.steadyGigabytesPerSecond), colour: 'orange', dash: DASHES[2], still: true}]}]},
    {id: 'latency', title: 'Latency to first layer', about: 'From the question until layer 0 of every block of the request had been verified; percentiles of the requests that ended in each interval.',
      views: [{axis: 'time', format: time, lines: ['p50', 'p90', 'p99'].map((name, i) =>
        ({label: name, values: series.firstLayerMicros[name], colour: COLOURS[i], dash: DASHES[i]}))}]},
    {id: 'fill', title: 'Tier fill', about: 'Blocks that the books put in each tier.', views: [fill()]},
  ];

  /// A chart that says itself what is in it; a line of one value is level. Lines that are named after a tier have its colour.
  function given(chart) {
    const format = chart.unit === 'time' ? time : value => plain.format(value) + (chart.unit && ' ' + chart.unit);
    const lines = chart.lines.map((line, i) => ({label: line.label, colour: TIERS[line.label] || COLOURS[i % COLOURS.length], dash: chart.stacked ? [] : DASHES[i % 4], mark: chart.stacked ? undefined : POINTS[i % POINTS.length], still: line.values.length === 1,
      area: chart.stacked, pattern: PATTERNS[TIERS[line.label]] || 0, values: line.values.length === 1 ? level(line.values[0]) : line.values}));
    return {id: chart.id, title: chart.title, about: chart.about, stacked: chart.stacked,
      views: [{axis: chart.axis, logarithmic: chart.logarithmic, format, tick: chart.unit === 'time' ? time : plain.format, lines}]};
  }
  const specs = run.charts ? run.charts.map(given) : replay();

  // Colours come from the style sheet, so that a theme has one home.
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  function colour(name, alpha) {
    probe.style.color = 'var(--' + name + ')';
    const rgb = getComputedStyle(probe).color;
    return alpha === undefined ? rgb : rgb.replace('rgb(', 'rgba(').replace(')', ', ' + alpha + ')');
  }

  /// Areas differ by their hatching too, for those who do not tell the colours apart and for printers without them.
  function hatched(name, kind) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const pen = tile.getContext('2d');
    pen.fillStyle = colour(name, kind === 3 ? 0.2 : 0.35);
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = pen.fillStyle = colour(name, 0.75);
    pen.beginPath();
    if (kind === 1) {
      pen.moveTo(-2, 6); pen.lineTo(6, -2); pen.moveTo(2, 10); pen.lineTo(10, 2);
    } else if (kind === 2) {
      pen.arc(2, 2, 1.2, 0, 7); pen.arc(6, 6, 1.2, 0, 7); pen.fill(); pen.beginPath();
    } else if (kind === 3) {
      pen.moveTo(0, 4); pen.lineTo(8, 4);
    }
    pen.stroke();
    return pen.createPattern(tile, 'repeat');
  }

  function dataset(line) {
    return {
      label: line.label, data: [...(counted ? [] : [{x: 0, y: line.values.first ?? line.values[0]}]), ...line.values.map((y, i) => ({x: seconds[i], y}))],
      borderColor: colour(line.colour), borderWidth: line.area ? 1 : 2, borderDash: line.dash || [],
      backgroundColor: line.area ? hatched(line.colour, line.pattern) : colour(line.colour, 0.15),
      fill: line.area ? 'stack' : line.shade ? 'origin' : false,
      pointRadius: line.still || seconds.length > 60 ? seconds.length === 1 ? 3 : 0 : line.mark ? 4 : 2.5, pointHoverRadius: line.still ? 0 : line.mark ? 6 : 4,
      pointStyle: line.mark && line.mark.split(' ')[0], pointBorderColor: colour(line.colour), pointBorderWidth: line.mark ? 1.5 : 1,
      pointBackgroundColor: colour(line.mark && line.mark.endsWith(' open') ? 'card' : line.colour), spanGaps: true, tension: 0,
    };
  }

  function axes(spec, view) {
    const quiet = colour('quiet');
    const grid = {color: colour('rule')};
    const y = {
      type: view.logarithmic ? 'logarithmic' : 'linear', stacked: !!spec.stacked && !view.flat, ...(view.logarithmic ? {} : {min: 0}), suggestedMax: view.top, grid,
      title: {display: true, text: view.axis, color: quiet, font: {size: 11}},
      ticks: {color: quiet, maxTicksLimit: view.logarithmic ? 12 : 7, callback: value => view.logarithmic && !/^[125]/.test(value.toExponential()) ? '' : (view.tick || view.format)(value)},
    };
    const x = {type: 'linear', min: 0, max: seconds[seconds.length - 1], grid, title: {display: true, text: run.axis || 'seconds since the first request', color: quiet},
      ticks: {color: quiet, maxRotation: 0, includeBounds: false, callback: value => plain.format(value)}};
    if (counted) { // a tick at each point, if they are few; the bounds of a single point are the library's
      const few = seconds.length <= 16;
      Object.assign(x, {type: points === 'blocks' ? 'logarithmic' : 'linear', afterBuildTicks: axis => { if (few) { axis.ticks = seconds.map(value => ({value})); } }});
      Object.assign(x, seconds.length > 1 ? {min: seconds[0]} : {min: undefined, max: undefined});
      x.ticks.callback = value => !few && !/^[125]/.test(value.toExponential()) ? '' : blockBytes ? [whole.format(value), gib(value)] : whole.format(value);
    }
    return {x, y};
  }

  /// A piece of a line with its dashes and its mark, which tell lines apart without colours: the library's legend shows one of both.
  function sample(line) {
    const canvas = Object.assign(document.createElement('canvas'), {width: 40, height: 12});
    const pen = canvas.getContext('2d');
    pen.strokeStyle = pen.fillStyle = line.borderColor;
    pen.lineWidth = 2;
    pen.setLineDash(line.borderDash);
    pen.beginPath();
    pen.moveTo(0, 6);
    pen.lineTo(40, 6);
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = line.pointBackgroundColor;
    if (line.pointStyle && line.pointRadius > 0) { Chart.helpers.drawPoint(pen, {pointStyle: line.pointStyle, radius: 4, borderWidth: 1.5}, 20, 6); }
    return canvas;
  }
  const dashed = chart => Chart.defaults.plugins.legend.labels.generateLabels(chart).map(item =>
    ({...item, pointStyle: sample(chart.data.datasets[item.datasetIndex]), lineWidth: 2}));

  /// Marked values of the horizontal axis: a line from top to bottom, with its words.
  const marked = {id: 'marked', afterDatasetsDraw(chart) {
    const {ctx: pen, chartArea: area, scales: {x}} = chart;
    for (const mark of run.marks || []) {
      const place = x.getPixelForValue(mark.at);
      if (!(place >= area.left && place <= area.right)) { continue; }
      const isRight = place > (area.left + area.right) / 2;
      pen.save();
      pen.strokeStyle = pen.fillStyle = colour('text');
      pen.setLineDash([4, 4]);
      pen.beginPath();
      pen.moveTo(place, area.top);
      pen.lineTo(place, area.bottom);
      pen.stroke();
      pen.font = '600 12px ' + Chart.defaults.font.family;
      pen.textAlign = isRight ? 'right' : 'left';
      pen.fillText(mark.label + ', ' + at(mark.at), place + (isRight ? -6 : 6), area.bottom - 8);
      pen.restore();
    }
  }};

  function options(spec, view) {
    const box = spec.stacked && !view.flat ? {boxWidth: 26, boxHeight: 12} : {usePointStyle: true, pointStyleWidth: 40, generateLabels: dashed};
    return {
      animation: false, parsing: false, normalized: true, responsive: true, maintainAspectRatio: false,
      interaction: {mode: 'index', intersect: false}, scales: axes(spec, view),
      plugins: {
        legend: {position: 'bottom', labels: {color: colour('text'), padding: 14, ...box}},
        tooltip: {backgroundColor: colour('text'), titleColor: colour('card'), bodyColor: colour('card'), usePointStyle: false, callbacks: {
          title: items => at(items[0].parsed.x),
          label: item => ' ' + item.dataset.label + ': ' + view.format(item.parsed.y)}},
      },
    };
  }

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function describe(spec, view) {
    const parts = view.lines.map(line => {
      const known = line.values.filter(value => value != null);
      if (known.length === 0) { return line.label + ': no values'; }
      const least = known.reduce((a, b) => Math.min(a, b));
      const most = known.reduce((a, b) => Math.max(a, b));
      return line.label + ': from ' + view.format(least) + ' to ' + view.format(most) + ', at the end ' + view.format(known[known.length - 1]);
    });
    return spec.title + ', ' + view.axis + (points === 'turns' ? ', up to ' : ', over ') + at(seconds[seconds.length - 1]) + '. ' + parts.join('; ') + '.' + (run.marks || []).map(mark => ' ' + mark.label + ': ' + at(mark.at) + '.').join('');
  }

  function values(view) {
    const head = element('tr', {}, element('th', {scope: 'col', textContent: {seconds: 'second', blocks: 'blocks', turns: 'turn'}[points]}), ...view.lines.map(line => element('th', {scope: 'col', textContent: line.label})));
    const rows = seconds.map((second, i) => element('tr', {}, element('th', {scope: 'row', textContent: points === 'blocks' ? blocks(second) : counted ? whole.format(second) : second.toFixed(2)}),
      ...view.lines.map(line => element('td', {textContent: line.values[i] == null ? '–' : view.format(line.values[i])}))));
    return element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
  }

  function add(spec) {
    const canvas = element('canvas', {id: spec.id});
    const table = element('div', {className: 'values', tabIndex: 0});
    const details = element('details', {}, element('summary', {textContent: 'Values'}), table);
    const views = element('div', {className: 'views'});
    const caption = element('figcaption', {}, element('h3', {textContent: spec.title}), views, element('p', {textContent: spec.about}));
    document.getElementById('charts').append(element('figure', {}, caption, element('div', {className: 'plot'}, canvas), details));
    canvas.setAttribute('role', 'img');
    const entry = {spec, view: spec.views[0], draw() {
      canvas.setAttribute('aria-label', describe(spec, entry.view));
      if (details.open) { table.replaceChildren(values(entry.view)); }
      entry.chart.data.datasets = entry.view.lines.map(dataset);
      entry.chart.options = options(spec, entry.view);
      entry.chart.update();
    }};
    entry.chart = new Chart(canvas, {type: 'line', data: {datasets: []}, options: options(spec, entry.view), plugins: [marked]});
    details.addEventListener('toggle', entry.draw);
    if (spec.views.length > 1) {
      views.append(...spec.views.map(view => {
        const choice = element('button', {type: 'button', textContent: view.name});
        choice.setAttribute('aria-pressed', view === entry.view);
        choice.addEventListener('click', () => {
          entry.view = view;
          for (const other of views.children) { other.setAttribute('aria-pressed', other === choice); }
          entry.draw();
        });
        return choice;
      }));
    }
    charts.push(entry);
  }

  const draw = () => charts.forEach(entry => entry.draw());
  const isDark = () => (root.dataset.theme || (systemDark.matches ? 'dark' : 'light')) === 'dark';
  function label() { button.textContent = isDark() ? 'Light theme' : 'Dark theme'; }

  button.hidden = false;
  button.addEventListener('click', () => { root.dataset.theme = isDark() ? 'light' : 'dark'; label(); draw(); });
  systemDark.addEventListener('change', () => { label(); draw(); });
  if (location.hash === '#dark' || location.hash === '#light') { root.dataset.theme = location.hash.slice(1); }
  // On paper everything is light, and as wide as the paper.
  let before;
  addEventListener('beforeprint', () => { before = root.dataset.theme; root.dataset.theme = 'light'; draw(); charts.forEach((entry, i) => entry.chart.resize(i === 0 ? 700 : 340, 210)); });
  addEventListener('afterprint', () => {
    if (before) { root.dataset.theme = before; } else { delete root.dataset.theme; }
    draw();
    charts.forEach(entry => entry.chart.resize());
  });
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  label();
  specs.forEach(add);
  draw();
})();
