/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Draws what stands in tables below it: histograms, quantiles, boots, axes, history. Without it the page is whole. */
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const plots = [];
  const HEIGHT = 230;

  document.documentElement.classList.add("scripted");

  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const figure = v => v == null || !isFinite(v) ? "–" : Math.abs(v) >= 1e6 || (v !== 0 && Math.abs(v) < 1e-3)
    ? v.toExponential(2).replace("e+", "e") : String(+v.toPrecision(4));

  /* Baseline and subject have colours of their own, cells take them in order; dashes help where colour does not. */
  const color = (series, i) => css(series.role === "cell" ? `--s${i}` : `--${series.role}`);
  const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 4], [12, 4]];
  const dash = (series, i) => series.role === "cell" ? dashes[i] : series.role === "baseline" ? [6, 3] : [];

  function axis(more) {
    return {
      stroke: () => css("--muted"), font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
      filter: (u, splits) => splits, labelSize: 18, grid: {stroke: () => css("--line"), width: 1}, ticks: {stroke: () => css("--line"), width: 1, size: 4},
      ...more
    };
  }

  /* Whole powers of ten, and between them 2 and 5 where there is room. */
  function logSplits(low, high) {
    const all = [];
    const decades = Math.log10(high / low);
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
      for (const m of decades < 0.8 ? [1, 1.5, 2, 3, 5, 7] : decades < 2.5 ? [1, 2, 5] : [1]) {
        const at = m * 10 ** e;
        if (at >= low * 0.999 && at <= high * 1.001)
          all.push(at);
      }
    return all;
  }

  /* Names of the lines at their last point, beside the legend that has the values. */
  function labels(names) {
    return u => {
      const ctx = u.ctx, ratio = devicePixelRatio || 1;
      const taken = [];
      ctx.save();
      ctx.font = `${12 * ratio}px system-ui, sans-serif`;
      names.forEach((series, i) => {
        const ys = u.data[i + 1];
        let at = ys.length - 1;
        while (at >= 0 && (ys[at] == null || u.data[0][at] > u.scales.x.max))
          at--;
        if (at < 0)
          return;
        const x = u.valToPos(u.data[0][at], "x", true), top = u.bbox.top + 10 * ratio;
        let y = Math.max(top, u.valToPos(ys[at], "y", true) - 6 * ratio);
        while (taken.some(t => Math.abs(t - y) < 14 * ratio))
          y += 14 * ratio;
        taken.push(y);
        const right = u.bbox.left + u.bbox.width, width = ctx.measureText(series.label).width;
        ctx.textAlign = "left";
        const left = Math.min(x + 4 * ratio, right - width - 2 * ratio);
        ctx.lineWidth = 3 * ratio;
        ctx.strokeStyle = css("--bg");
        ctx.strokeText(series.label, left, y);
        ctx.fillStyle = color(series, i);
        ctx.fillText(series.label, left, y);
      });
      ctx.restore();
    };
  }

  function draw(parent, title, options, values) {
    const box = document.createElement("figure"), caption = document.createElement("figcaption");
    caption.textContent = title;
    box.append(caption);
    parent.append(box);
    const width = () => Math.max(240, box.clientWidth);
    const u = new uPlot({
      width: width(), height: HEIGHT, padding: [12, 26, 0, 0],
      cursor: {drag: {x: true, y: false}, points: {size: 6}}, legend: {live: true, markers: {width: 3}}, ...options
    }, values, box);
    /* What is on the canvas is in the table that follows. */
    u.root.querySelector("canvas").setAttribute("aria-hidden", "true");
    new ResizeObserver(() => {
      if (Math.abs(width() - u.width) > 1)
        u.setSize({width: width(), height: HEIGHT});
    }).observe(box);
    plots.push(u);
    return {u, box};
  }

  const line = (series, i, more) => ({
    label: series.label, stroke: () => color(series, i), width: 2, dash: dash(series, i), points: {show: false},
    value: (u, v) => figure(v), ...more
  });

  function histogram(parent, plot) {
    const edges = plot.edges, least = 0.6;
    const counts = plot.series.map(s => s.counts);
    const most = Math.max(1, ...counts.flat());
    draw(parent, "Histogram", {
      scales: {
        x: {time: false, distr: plot.log ? 3 : 1, range: (u, low, high) => [low, high]},
        y: {distr: 3, range: () => [least, most * 2]}
      },
      axes: [
        axis({label: `latency, ${plot.unit}`, values: (u, v) => v.map(figure),
          splits: plot.log ? (u, i, low, high) => logSplits(low, high) : undefined}),
        axis({label: "samples", size: 54, splits: () => logSplits(1, most), values: (u, v) => v.map(figure)})
      ],
      series: [
        {label: `from, ${plot.unit}`, value: (u, v) => figure(v)},
        ...plot.series.map((s, i) => line(s, i, {
          width: 1.5, dash: [], paths: uPlot.paths.stepped({align: 1}),
          fill: plot.series.length > 2 ? undefined : () => color(s, i) + "33",
          value: (u, v, si, at) => at == null ? "–" : at < edges.length - 1 ? String(counts[i][at]) : "–"
        }))
      ]
    }, [edges, ...counts.map(c => [...c.map(n => Math.max(n, least)), least])]);
  }

  function quantiles(parent, plot) {
    const xs = [...new Set(plot.series.flatMap(s => s.quantiles.map(q => q[0])))].sort((a, b) => a - b);
    if (xs.length < 2)
      return;
    const lines = plot.series.map(s => {
      const at = new Map(s.quantiles.map(q => [q[0], q[1]]));
      return xs.map(x => at.has(x) ? at.get(x) : null);
    });
    const bound = plot.series.map(s => new Map(s.quantiles.map(q => [q[0], q[2]])));
    const percent = x => {
      const nines = Math.max(0, Math.ceil(Math.log10(x) - 1e-9) - 1);
      return `${+((1 - 1 / x) * 100).toFixed(nines)} %`;
    };
    const deepest = Math.max(...xs);
    draw(parent, `Quantiles, as deep as the samples carry them: ${percent(deepest)}`, {
      scales: {
        x: {time: false, distr: 3, range: (u, low, high) => [Math.max(1, low), high]},
        y: {distr: plot.log ? 3 : 1, range: plot.log ? (u, low, high) => [low / 1.15, high * 1.15] : undefined}
      },
      axes: [
        axis({label: "share of samples at or below", splits: (u, i, low, high) =>
          [...(high < 2e3 ? [2] : []), 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].filter(x => x >= low && x <= high), values: (u, v) => v.map(percent)}),
        axis({label: `latency, ${plot.unit}`, size: 60, splits: plot.log ? (u, i, low, high) => logSplits(low, high) : undefined,
          values: (u, v) => v.map(figure)})
      ],
      series: [{label: "quantile", value: (u, v) => v == null ? "–" : percent(v)},
        ...plot.series.map((s, i) => line(s, i, {
          value: (u, v, si, at) => v == null ? "–" : (bound[i].get(xs[at]) ? "≥ " : "") + figure(v)
        }))],
      hooks: {draw: [labels(plot.series)]}
    }, [xs, ...lines]);
  }

  function shares(parent, plot) {
    const lines = plot.series.map(s => {
      let sum = 0;
      return [0, ...s.counts.map(n => (sum += n) / s.samples * 100)];
    });
    draw(parent, "Share of samples below", {
      scales: {x: {time: false, distr: plot.log ? 3 : 1, range: (u, low, high) => [low, high]}, y: {range: () => [0, 104]}},
      axes: [
        axis({label: `latency, ${plot.unit}`, values: (u, v) => v.map(figure),
          splits: plot.log ? (u, i, low, high) => logSplits(low, high) : undefined}),
        axis({label: "% of samples", size: 50, splits: () => [0, 25, 50, 75, 100]})
      ],
      series: [{label: `below, ${plot.unit}`, value: (u, v) => figure(v)},
        ...plot.series.map((s, i) => line(s, i, {value: (u, v) => v == null ? "–" : `${figure(v)} %`}))],
      hooks: {draw: [labels(plot.series)]}
    }, [plot.edges, ...lines]);
  }

  function boots(parent) {
    if (!data.boots.length || !data.boots.some(m => m.series.some(s => s.points.length > 1)))
      return;
    const select = document.createElement("select"), label = document.createElement("label");
    data.boots.forEach((m, i) => {
      const cell = m.cell ? `, ${m.cell}` : "";
      select.add(new Option(`${m.metric}${cell} (${m.unit}, fidelity ${m.fidelity})`, i));
    });
    label.append("Boot by boot: ", select);
    parent.before(label);
    const show = () => {
      while (parent.firstChild)
        parent.firstChild.remove();
      const m = data.boots[select.value];
      const xs = [...new Set(m.series.flatMap(s => s.points.map(p => p[0])))].sort((a, b) => a - b);
      const lines = m.series.map(s => {
        const at = new Map(s.points.map(p => [p[0], p[1]]));
        return xs.map(x => at.has(x) ? at.get(x) : null);
      });
      draw(parent, `${m.metric}, ${m.unit}: a point is a boot`, {
        scales: {x: {time: false, range: (u, low, high) => [low - 0.5, high + 0.5]},
          y: {range: (u, low, high) => low === high ? [low - Math.abs(low || 1) * 0.01, high + Math.abs(high || 1) * 0.01]
            : [low - (high - low) * 0.15, high + (high - low) * 0.15]}},
        axes: [axis({label: "boot", incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]}),
          axis({label: m.unit, size: 80})],
        series: [{label: "boot"}, ...m.series.map((s, i) => line(s, i, {
          paths: () => null, points: {show: true, size: 8, fill: () => color(s, i), stroke: () => color(s, i)},
          value: (u, v) => v == null ? "–" : String(+v.toPrecision(6))
        }))],
        hooks: {draw: [labels(m.series)]}
      }, [xs, ...lines]);
    };
    /* First one whose numbers mean something. */
    select.selectedIndex = Math.max(0, data.boots.findIndex(m => m.fidelity !== "functional"));
    select.onchange = show;
    show();
  }

  /* Numbers stand where they are, other values side by side. */
  function along(parent, p) {
    const xs = p.values.map((v, i) => p.numeric ? Number(v) : i);
    const order = xs.map((x, i) => i).sort((a, b) => xs[a] - xs[b]);
    const least = Math.min(...xs), most = Math.max(...xs), room = (most - least) / 20;
    const short = (text, most) => text.length > most ? "…" + text.slice(1 - most) : text;
    const names = p.series.map(s => ({...s, label: short(s.label || p.metric, 32)}));
    const point = (s, i) => ({points: {show: true, size: 6, fill: () => color(s, i), stroke: () => color(s, i)}, spanGaps: true});
    draw(parent, `${p.metric} by ${p.axis}, ${p.unit}`, {
      scales: {x: {time: false, range: () => [least - room, most + room]}, y: {range: (u, low, high) => [0, high * 1.1]}},
      axes: [
        axis({label: p.axis, splits: () => order.map(i => xs[i]), values: (u, v) => v.map(x => short(p.values[xs.indexOf(x)] ?? "", 14))}),
        axis({label: p.unit, size: 64, values: (u, v) => v.map(figure)})
      ],
      series: [{label: p.axis, value: (u, v) => v == null ? "–" : short(p.values[xs.indexOf(v)] ?? "–", 32)},
        ...names.map((s, i) => line(s, i, point(s, i)))]
    }, [order.map(i => xs[i]), ...names.map(s => order.map(i => s.medians[i]))]);
  }

  function history(parent, h) {
    const at = k => h.points.map(p => p[k]);
    const marks = u => {
      u.ctx.save();
      u.ctx.strokeStyle = css("--bad");
      u.ctx.setLineDash([4, 3]);
      for (const p of h.points.filter(q => q[4])) {
        const x = u.valToPos(p[0], "x", true);
        u.ctx.beginPath();
        u.ctx.moveTo(x, u.bbox.top);
        u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
        u.ctx.stroke();
      }
      u.ctx.restore();
    };
    const series = {label: "median", role: "subject"};
    draw(parent, `${h.metric}${h.cell ? ", " + h.cell : ""}, ${h.unit}: range over boots shaded, changes of level dashed`, {
      axes: [axis({}), axis({label: h.unit, size: 80})],
      series: [{label: "set"}, line(series, 0, {points: {show: true, size: 5, fill: () => color(series, 0), stroke: () => color(series, 0)}}),
        {label: "least", stroke: "transparent", points: {show: false}, value: (u, v) => figure(v)},
        {label: "largest", stroke: "transparent", points: {show: false}, value: (u, v) => figure(v)}],
      bands: [{series: [3, 2], fill: () => css("--subject") + "33"}],
      hooks: {draw: [marks]}
    }, [at(0), at(1), at(2), at(3)]);
  }

  for (const parent of document.querySelectorAll("[data-latency]")) {
    const plot = data.latencies[parent.dataset.latency];
    if (plot && plot.edges.length > 1) {
      histogram(parent, plot);
      quantiles(parent, plot);
      shares(parent, plot);
    }
  }
  for (const parent of document.querySelectorAll("[data-boots]"))
    boots(parent);
  for (const parent of document.querySelectorAll("[data-along]"))
    along(parent, data.along[parent.dataset.along]);
  for (const parent of document.querySelectorAll("[data-history]"))
    history(parent, data.history[parent.dataset.history]);

  /* Colours are read when drawing; on paper everything that is folded stands open. */
  const redraw = () => plots.forEach(u => u.redraw());
  for (const query of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(query).addEventListener("change", redraw);
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach(d => { d.open = true; });
    redraw();
  });
  addEventListener("afterprint", () => {
    folded.forEach(d => { d.open = false; });
    redraw();
  });
})();
